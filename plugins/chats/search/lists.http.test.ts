import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { type ChatClient, chatClient, conversation, replied, said } from "../chats.fixture.ts";

let app: App;
let user: TestUser;
let me: ChatClient;

beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  user = await app.user();
  me = chatClient(app, user.token);
});
afterAll(() => app?.close());

const titles = async (route: string) =>
  (await me.call(`GET ${route}`)).body.map(({ title }: { title: string }) => title) as string[];

/** Chats with these titles, the first the newest. */
async function imported(...names: string[]): Promise<string[]> {
  const chats = names.map((title, at) => ({
    chat: { title },
    created_at: 1_700_000_000,
    updated_at: 1_700_001_000 - at,
  }));
  const { status, body } = await me.call("POST /import", { chats });
  expect(status).toBe(200);
  return body.map(({ id }: { id: string }) => id);
}

describe("lists", () => {
  it("are ordered, paged, and show what belongs in them", async () => {
    const ids = await imported("b", "a", "c");
    expect(await titles("/")).toEqual(["b", "a", "c"]);
    expect(await titles("/list?sort_by=title&sort_dir=asc")).toEqual(["a", "b", "c"]);
    expect(await titles("/?page=2")).toEqual([]);
    expect((await me.call("GET /?page=1")).body[0]).toEqual({
      id: ids[0],
      title: "b",
      updated_at: 1_700_001_000,
      created_at: 1_700_000_000,
      last_read_at: expect.any(Number),
      archived: false,
      active: false,
      snippet: null,
    });
    expect((await me.call(`POST /${ids[0]}/pin`)).body.pinned).toBe(true);
    expect((await me.call(`POST /${ids[1]}/archive`)).body.archived).toBe(true);
    expect(await titles("/")).toEqual(["c"]);
    expect(await titles("/?include_pinned=true")).toEqual(["b", "c"]);
    expect(await titles("/pinned")).toEqual(["b"]);
    expect(await titles("/archived?query=A")).toEqual(["a"]);
    expect(await titles("/archived?query=z")).toEqual([]);
    expect((await me.call("GET /archived/count")).body).toEqual({ count: 1 });
    expect((await me.call(`POST /${ids[0]}/pin`)).body.pinned).toBe(false);
    expect((await me.call("POST /archive/all")).body).toBe(true);
    expect(await titles("/archived")).toEqual(["b", "a", "c"]);
    expect((await me.call("POST /unarchive/all")).body).toBe(true);
    expect(await titles("/")).toEqual(["b", "a", "c"]);
  });

  it("have 60 chats a page", async () => {
    await imported(...Array.from({ length: 61 }, (_, n) => `t${n}`));
    expect((await titles("/?page=1")).length).toBe(60);
    expect(await titles("/?page=2")).toEqual(["t60"]);
    expect((await titles("/")).length).toBe(61);
  });

  it("know what was read, and no folder that does not exist", async () => {
    const [id] = await imported("a");
    expect((await me.call(`POST /${id}/unread`)).body.last_read_at).toBeNull();
    expect((await me.call(`POST /${id}/read`)).body.last_read_at).toBeGreaterThan(1_700_000_000);
    expect((await me.call(`POST /${id}/folder`, { folder_id: "f" })).status).toBe(404);
    expect((await me.call(`POST /${id}/folder`, { folder_id: null })).body.folder_id).toBeNull();
    expect((await me.call("GET /folder/f")).status).toBe(404);
  });
});

describe("tags", () => {
  it("are given, listed, searched for and forgotten with their last chat", async () => {
    const [one, two] = await imported("one", "two");
    const tag = await me.call(`POST /${one}/tags`, { name: "Big Plans" });
    expect(tag.body).toEqual([{ id: "big_plans", name: "Big Plans", user_id: user.id, meta: null }]);
    await me.call(`POST /${two}/tags`, { name: "big plans" });
    await me.call(`POST /${two}/tags`, { name: "small" });
    expect((await me.call("GET /all/tags")).body.map(({ id }: { id: string }) => id)).toEqual([
      "big_plans",
      "small",
    ]);
    expect((await me.read(two as string)).meta).toEqual({ tags: ["big_plans", "small"], task_id: null });
    const tagged = await me.call("POST /tags", { name: "Big plans", limit: 1, skip: 1 });
    expect(tagged.body.map(({ title }: { title: string }) => title)).toEqual(["two"]);
    expect(await titles('/search?text=tag:"big plans" tag:small'.replaceAll(" ", "%20"))).toEqual(["two"]);
    expect((await me.call(`DELETE /${two}/tags`, { name: "small" })).body.length).toBe(1);
    expect((await me.call("GET /all/tags")).body.length).toBe(1);
    expect((await me.call(`DELETE /${one}/tags/all`)).body).toBe(true);
    expect((await me.call("POST /tags", { name: "none" })).body.length).toBe(1);
    expect(await titles("/search?text=tag:none")).toEqual(["one"]);
    expect((await me.call(`DELETE /${two}`)).body).toBe(true);
    expect((await me.call("GET /all/tags")).body).toEqual([]);
    expect((await me.call(`POST /${one}/tags`, { name: "None" })).status).toBe(400);
  });
});

describe("search", () => {
  it("finds words of titles and messages, unfinished ones too, with a snippet", async () => {
    const hay = `${"hay ".repeat(100)}the Needle is here ${"hay ".repeat(100)}`;
    await me.make({ title: "Barn", history: { messages: { u: said("u", hay) }, currentId: "u" } });
    await me.make({ title: "Needlework" });
    await me.make({
      title: "Blocks",
      history: { messages: { u: said("u", [{ type: "text", text: "a needle" }]) } },
    });
    await me.make({ title: "東京の天気", ...conversation() });
    const { body } = await me.call("GET /search?text=need");
    expect(body.map(({ title }: { title: string }) => title).toSorted()).toEqual([
      "Barn",
      "Blocks",
      "Needlework",
    ]);
    const snippets = Object.fromEntries(
      body.map((row: { title: string; snippet: string }) => [row.title, row.snippet]),
    );
    expect(snippets["Barn"]).toContain("Needle is here");
    expect(snippets["Barn"].length).toBeLessThanOrEqual(200);
    expect(snippets["Needlework"]).toBeNull();
    expect(await titles("/search?text=needle%20here")).toEqual(["Barn"]);
    expect(await titles(`/search?text=${encodeURIComponent("京 天気")}`)).toEqual(["東京の天気"]);
    expect(await titles("/search?text=nothing")).toEqual([]);
    expect(await titles(`/search?text=${encodeURIComponent('needle -"is here"')}`)).toEqual(["Blocks"]);
    for (const text of ["'", "!!! & |", "a:b:c", '"', "\\", "%", ":*", '-"a b"', "-(a", "-a or b"]) {
      expect((await me.call(`GET /search?text=${encodeURIComponent(text)}`)).status).toBe(200);
    }
  });

  it("takes texts of any length and script", { timeout: 60_000 }, async () => {
    // A letter of four bytes each, in compounds: what takes the most room of an index.
    const word = (n: number, length: number) =>
      Array.from({ length }, (_, at) => String.fromCodePoint(0x20000 + ((n * 31 + at * 7919) % 40_000))).join(
        "",
      );
    for (const length of [1, 4, 100]) {
      const compounds = Array.from({ length: Math.ceil(150_000 / (2 * length + 2)) }, (_, n) =>
        [word(n * 2, length), word(n * 2 + 1, length)].join("-"),
      );
      const u1 = said("u1", compounds.join(" "));
      const { id } = await me.make({ title: `of ${length}`, history: { messages: { u1 }, currentId: "u1" } });
      const found = await titles(`/search?text=${encodeURIComponent(compounds[0]!)}`);
      expect(found).toEqual([`of ${length}`]);
      await me.call(`DELETE /${id}`);
    }
  });

  it("goes by state", async () => {
    const [a, b] = await imported("alpha one", "alpha two", "alpha three");
    await me.call(`POST /${a}/archive`);
    await me.call(`POST /${b}/pin`);
    expect(await titles("/search?text=alpha")).toEqual(["alpha two", "alpha three"]);
    expect(await titles("/search?text=alpha%20archived:true")).toEqual(["alpha one"]);
    expect(await titles("/search?text=pinned:true")).toEqual(["alpha two"]);
    await me.call(`POST /${b}/share`);
    expect(await titles("/search?text=alpha%20shared:true")).toEqual(["alpha two"]);
    expect(await titles("/search?text=folder:x")).toEqual([]);
  });
});

describe("copies, export and import", () => {
  const tree = () => ({
    history: {
      currentId: "a1",
      messages: {
        u1: said("u1", "1", { childrenIds: ["a1", "a2"] }),
        a1: replied("a1", "u1"),
        a2: replied("a2", "u1"),
      },
    },
  });

  it("a clone has everything, a fork one branch", async () => {
    const made = await me.make(tree(), { variables: { v: 1 } });
    const clone = (await me.call(`POST /${made.id}/clone`, { title: "Mine" })).body;
    expect(clone.chat).toEqual({ ...made.chat, title: "Mine", originalChatId: made.id });
    expect(clone.variables).toEqual({ v: 1 });
    const fork = (await me.call(`POST /${made.id}/fork`, { message_id: "a2" })).body;
    expect(Object.keys(fork.chat.history.messages).toSorted()).toEqual(["a2", "u1"]);
    expect(fork.chat.history.messages.u1.childrenIds).toEqual(["a2"]);
    expect([fork.current_message_id, fork.variables]).toEqual(["a2", { v: 1 }]);
    expect((await me.call(`POST /${made.id}/fork`, { message_id: "ghost" })).status).toBe(404);
  });

  it("what is exported comes back by import, broken trees mended", async () => {
    const made = await me.make({ ...tree(), tags: ["Old"] });
    await me.call(`POST /${made.id}/pin`);
    const exported = (await me.call("GET /all")).body;
    expect(exported).toEqual([await me.read(made.id)]);
    const [record] = (await me.call("POST /import", { chats: exported })).body;
    const copy = await me.read(record.id);
    expect(copy.chat).toEqual(exported[0].chat);
    expect(copy).toMatchObject({ pinned: true, created_at: made.created_at, meta: { tags: ["old"] } });
    const broken = {
      title: "Broken",
      history: {
        currentId: "ghost",
        messages: { a: replied("a", "ghost"), b: replied("b", "c"), c: replied("c", "b") },
      },
    };
    const [mended] = (
      await me.call("POST /import", {
        chats: [{ chat: broken, folder_id: "gone", meta: { internal: true } }],
      })
    ).body;
    const { chat } = await me.read(mended.id);
    expect(chat.history.messages.a.parentId).toBeNull();
    expect(Object.keys(chat.history.messages).length).toBe(3);
    expect(chat.history.currentId).not.toBeNull();
    expect(mended.folder_id).toBeNull();
    const bad = { chats: [{ chat: { title: "good" } }, { chat: { history: { messages: { a: 1 } } } }] };
    expect((await me.call("POST /import", bad)).status).toBe(400);
    expect((await titles("/?include_pinned=true")).includes("good")).toBe(false);
  });

  it("deletes all of one's own", async () => {
    await imported("a", "b");
    const other = chatClient(app, (await app.user()).token);
    const kept = await other.make(conversation());
    expect((await me.call("DELETE /")).body).toBe(true);
    expect(await titles("/")).toEqual([]);
    expect((await other.read(kept.id)).id).toBe(kept.id);
  });
});

it("lets administrators read nothing where the switch is off", async () => {
  const closed = await startApp({ env: { ENABLE_ADMIN_CHAT_ACCESS: "false" } });
  try {
    const owner = await closed.user();
    const { id } = await chatClient(closed, owner.token).make(conversation());
    const admin = chatClient(closed, (await closed.admin()).token);
    expect((await admin.call(`GET /${id}`)).status).toBe(404);
    expect((await admin.call(`POST /${id}`, { chat: {} })).status).toBe(404);
    expect((await admin.call(`GET /list/user/${owner.id}`)).status).toBe(403);
    expect((await admin.call("GET /all/db")).status).toBe(403);
  } finally {
    await closed.close();
  }
});

it("keeps nothing of an account that is gone", async () => {
  const made = await me.make(conversation());
  const boss = await app.admin();
  expect((await boss.call("GET /api/v1/chats/all/db")).body.map(({ id }: { id: string }) => id)).toContain(
    made.id,
  );
  await boss.call(`DELETE /api/v1/users/${user.id}`);
  expect((await boss.call(`GET /api/v1/chats/${made.id}`)).status).toBe(404);
});
