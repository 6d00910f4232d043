import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type ChatClient, chatClient, conversation, replied, said, withoutAuthor } from "./chats.fixture.ts";

let app: App;
let me: ChatClient;
let other: ChatClient;
let admin: ChatClient;

beforeAll(async () => {
  app = await useApp();
  me = chatClient(app, (await app.user()).token);
  other = chatClient(app, (await app.user()).token);
  admin = chatClient(app, (await app.admin()).token);
});
afterAll(() => app?.close());

describe("a chat comes back as it was sent", () => {
  it("with unknown keys, explicit nulls, siblings in order and the branch that is shown", async () => {
    const messages = {
      u1: said("u1", [{ type: "text", text: "Hi" }], {
        parentId: null,
        childrenIds: ["b", "a"],
        odd: { x: [1, null] },
      }),
      a: replied("a", "u1", { error: null, statusHistory: [{ done: true }], output: [{ type: "message" }] }),
      b: replied("b", "u1", { usage: { total_tokens: 3 }, sources: [], done: false, modelIdx: 1 }),
    };
    const chat = {
      title: "Zwei – 二",
      models: ["guide", "other"],
      params: { temperature: 0.5, system: "Be brief" },
      timestamp: 1_700_000_000_123,
      unheard: { of: true },
      files: [{ type: "collection", id: "c1", name: "Books" }],
      tags: [],
      history: { currentId: "b", messages, extraKey: 1 },
    };
    const made = await me.make(chat, { variables: { city: "Bern" } });
    const read = await me.read(made.id);
    expect(read).toEqual(made);
    expect(withoutAuthor(read.chat)).toEqual({ ...chat, messages: [messages.u1, messages.b] });
    expect(read).toMatchObject({
      title: "Zwei – 二",
      current_message_id: "b",
      variables: { city: "Bern" },
      archived: false,
      pinned: false,
      share_id: null,
      folder_id: null,
    });
  });

  it("from title, models and history alone, with defaults", async () => {
    const made = await me.make(conversation());
    expect(made.chat).toMatchObject({ files: [], tags: [], params: {} });
    expect(made.chat.history.messages.u1).toMatchObject({ parentId: null, childrenIds: ["a1"] });
  });

  it("from a flat legacy list, which becomes one branch", async () => {
    const made = await me.make({
      history: { messages: {}, currentId: null },
      messages: [
        { role: "user", content: "1" },
        { role: "assistant", content: "2", done: true },
        { id: "x", role: "user", content: "3" },
      ],
    });
    expect(made.chat.messages.map((one: { content: string }) => one.content)).toEqual(["1", "2", "3"]);
    expect(made.current_message_id).toBe("x");
    expect(made.chat.messages[1].parentId).toBe(made.chat.messages[0].id);
  });

  it("with currentId at the top level, and empty without one", async () => {
    const { history } = conversation();
    const top = await me.make({ currentId: "a1", history: { messages: history.messages } });
    expect(top.chat.history.currentId).toBe("a1");
    const none = await me.make({ history: { messages: history.messages, current_id: "a1" } });
    expect(none.chat.history.currentId).toBeNull();
    expect(none.chat.messages).toEqual([]);
  });

  it("and a placeholder without done is not done", async () => {
    const { done: _done, ...placeholder } = replied("a1", "u1", { content: "" });
    const made = await me.make({
      history: { currentId: "a1", messages: { u1: said("u1", "?"), a1: placeholder } },
    });
    expect(made.chat.history.messages.a1).toMatchObject({ done: false, content: "" });
  });
});

describe("what is no chat is refused with its reason", () => {
  const tree = (messages: unknown, currentId: unknown = null) => ({ history: { messages, currentId } });
  it.each([
    ["an unknown parent", tree({ a: replied("a", "ghost") }), /parent that the chat does not have: ghost/],
    ["a circle", tree({ a: replied("a", "b"), b: replied("b", "a") }), /own ancestor/],
    ["its own parent", tree({ a: replied("a", "a") }), /own ancestor/],
    ["an unknown role", tree({ a: { ...said("a", "x"), role: "tool" } }), /role/],
    ["no role", tree({ a: { id: "a", content: "x" } }), /no role/],
    ["another id than its key", tree({ a: said("b", "x") }), /another one/],
    ["a message that is no object", tree({ a: "text" }), /not an object/],
    ["an unknown leaf", tree({ a: said("a", "x") }, "ghost"), /currentId names a message/],
    ["messages that are a list", tree([]), /not a map/],
    ["children that are no list", tree({ a: said("a", "x", { childrenIds: "b" }) }), /childrenIds/],
  ])("%s", async (_name, chat, text) => {
    const { status, body } = await me.call("POST /new", { chat: { title: "x", models: [], ...chat } });
    expect(status).toBe(400);
    expect(body.detail).toMatch(text);
  });

  it("no title, no models, a NUL, an unknown folder", async () => {
    expect((await me.call("POST /new", { chat: { models: [] } })).status).toBe(422);
    expect((await me.call("POST /new", { chat: { title: "x" } })).status).toBe(422);
    const broken = { title: "x", models: [], ...tree({ a: said("a", "x\u0000y") }) };
    expect((await me.call("POST /new", { chat: broken })).status).toBe(422);
    const body = { chat: { title: "x", models: [] }, folder_id: randomUUID() };
    expect((await me.call("POST /new", body)).status).toBe(404);
  });
});

describe("a partial chat is merged", () => {
  it("key by key, and what is not sent stays", async () => {
    const made = await me.make({ ...conversation(), params: { seed: 1 }, mine: 1 });
    const patch = {
      title: "New",
      mine: { deep: 2 },
      history: { messages: { a1: { content: "better", error: { content: "x" } } } },
    };
    const { status, body } = await me.call(`POST /${made.id}`, { chat: patch });
    expect(status).toBe(200);
    expect(body.title).toBe("New");
    expect(body.chat).toMatchObject({
      title: "New",
      mine: { deep: 2 },
      params: { seed: 1 },
      models: ["guide"],
    });
    const before = made.chat.history.messages;
    expect(body.chat.history.messages).toEqual({
      u1: before.u1,
      a1: { ...before.a1, content: "better", error: { content: "x" } },
    });
    expect(body.chat.history.currentId).toBe("a1");
    const cleared = await me.call(`POST /${made.id}`, {
      chat: { history: { messages: { a1: { error: null } } } },
    });
    expect(cleared.body.chat.history.messages.a1.error).toBeNull();
  });

  it("with the next turn of a conversation", async () => {
    const made = await me.make(conversation());
    const messages = {
      a1: { childrenIds: ["u2"] },
      u2: { id: "u2", role: "user", content: "And Mars?", childrenIds: ["a2"], models: ["guide"] },
      a2: replied("a2", "u2", { content: "", done: false }),
    };
    const { body } = await me.call(`POST /${made.id}`, { chat: { history: { currentId: "a2", messages } } });
    expect(body.chat.messages.map(({ id }: { id: string }) => id)).toEqual(["u1", "a1", "u2", "a2"]);
    expect(body.chat.history.messages.u2.parentId).toBe("a1");
  });

  it("with siblings, reordered siblings and moved messages", async () => {
    const made = await me.make(conversation());
    const send = async (messages: unknown) =>
      (await me.call(`POST /${made.id}`, { chat: { history: { messages } } })).body.chat.history.messages;
    expect((await send({ a2: replied("a2", "u1") })).u1.childrenIds).toEqual(["a1", "a2"]);
    expect((await send({ u1: { childrenIds: ["a2", "a1", "ghost"] } })).u1.childrenIds).toEqual(["a2", "a1"]);
    expect((await send({ u2: said("u2", "x", { parentId: "a1" }) })).a1.childrenIds).toEqual(["u2"]);
    const moved = await send({ u2: { parentId: "a2" } });
    expect([moved.a1.childrenIds, moved.a2.childrenIds]).toEqual([[], ["u2"]]);
  });

  it("but not into a circle, below unknown parents or towards an unknown leaf", async () => {
    const made = await me.make(conversation());
    for (const history of [
      { messages: { u1: { parentId: "a1" } } },
      { messages: { u1: { parentId: "ghost" } } },
      { messages: {}, currentId: "ghost" },
      { messages: { x: { content: "no role" } } },
    ]) {
      expect((await me.call(`POST /${made.id}`, { chat: { history } })).status).toBe(400);
    }
    expect((await me.read(made.id)).chat).toEqual(made.chat);
  });

  it("and only messages move updated_at", async () => {
    const chat = {
      chat: { ...conversation(), title: "Old" },
      created_at: 1_600_000_000,
      updated_at: 1_600_000_001,
    };
    const [{ id }] = (await me.call("POST /import", { chats: [chat] })).body;
    const renamed = (await me.call(`POST /${id}`, { chat: { title: "Y", ...conversation() } })).body;
    expect([renamed.title, renamed.updated_at]).toEqual(["Y", 1_600_000_001]);
    const changed = await me.call(`POST /${id}`, {
      chat: { history: { messages: { a1: { content: "z" } } } },
    });
    expect(changed.body.updated_at).toBeGreaterThan(1_700_000_000);
  });

  it("with only the record as answer for who wants that", async () => {
    const made = await me.make(conversation());
    const answer = await me.call(`POST /${made.id}`, { chat: { title: "T" } }, { prefer: "return=minimal" });
    expect([answer.body.title, answer.body.chat]).toEqual(["T", undefined]);
    expect(answer.headers.get("preference-applied")).toBe("return=minimal");
  });
});

describe("single messages", () => {
  it("are changed, and deleted without losing what follows", async () => {
    const made = await me.make({
      history: {
        currentId: "u2",
        messages: {
          u1: said("u1", "1", { childrenIds: ["a1", "a2"] }),
          a1: replied("a1", "u1", { childrenIds: ["u2", "u3"] }),
          a2: replied("a2", "u1"),
          u2: said("u2", "2", { parentId: "a1" }),
          u3: said("u3", "3", { parentId: "a1" }),
        },
      },
    });
    const changed = await me.call(`POST /${made.id}/messages/u1`, { content: "one" });
    expect(changed.body.chat.history.messages.u1.content).toBe("one");
    const { status, body } = await me.call(`DELETE /${made.id}/messages/a1`);
    expect(status).toBe(200);
    expect(body.chat.history.messages.u1.childrenIds).toEqual(["u2", "u3", "a2"]);
    expect(body.chat.history.messages.u2.parentId).toBe("u1");
    expect(body.chat.messages.map(({ id }: { id: string }) => id)).toEqual(["u1", "u2"]);
    expect((await me.call(`DELETE /${made.id}/messages/u2`)).body.chat.history.currentId).toBe("u1");
    for (const route of ["POST", "DELETE"]) {
      const body = route === "POST" ? { content: "x" } : undefined;
      expect((await me.call(`${route} /${made.id}/messages/ghost`, body)).status).toBe(404);
    }
  });

  it("come a page at a time, from the end of the branch", async () => {
    const messages: Record<string, unknown> = {};
    for (let n = 0; n < 120; n++) {
      messages[`m${n}`] = said(`m${n}`, `text ${n}`, { parentId: n === 0 ? null : `m${n - 1}` });
    }
    const made = await me.make({ history: { messages, currentId: "m119" } });
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const { body } = await me.call(`GET /${made.id}/messages?limit=50${before ? `&before=${before}` : ""}`);
      seen.unshift(...body.messages.map(({ id }: { id: string }) => id));
      before = body.before;
    } while (before);
    expect(seen).toEqual(Object.keys(messages));
    const leaf = await me.call(`GET /${made.id}/messages?leaf=m3`);
    expect(leaf.body.messages.length).toBe(4);
    expect(leaf.body.messages[3].childrenIds).toEqual(["m4"]);
    expect((await me.call(`GET /${made.id}/messages?before=ghost`)).status).toBe(404);
  });
});

describe("only the owner", () => {
  it("reads, changes or finds a chat; others get what they get for an unknown one", async () => {
    const { id } = await me.make({ title: "Secret plan", ...conversation() });
    const [foreign, unknown] = [await other.call(`GET /${id}`), await other.call(`GET /${randomUUID()}`)];
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    expect((await other.call(`POST /${id}`, { chat: { title: "mine" } })).status).toBe(404);
    expect((await other.call(`DELETE /${id}`)).status).toBe(404);
    expect((await other.call("GET /search?text=secret")).body).toEqual([]);
  });

  it("writes; administrators read", async () => {
    const made = await me.make(conversation());
    expect((await admin.read(made.id)).chat).toEqual(made.chat);
    expect((await admin.call(`GET /${made.id}/messages`)).status).toBe(200);
    for (const [route, body] of [
      [`POST /${made.id}`, { chat: { title: "x" } }],
      [`DELETE /${made.id}`, undefined],
      [`POST /${made.id}/pin`, undefined],
      [`POST /${made.id}/share`, undefined],
      [`POST /${made.id}/tags`, { name: "x" }],
      [`DELETE /${made.id}/messages/a1`, undefined],
    ] as const) {
      expect([route, (await admin.call(route, body)).status]).toEqual([route, 403]);
    }
    const list = await admin.call(`GET /list/user/${made.user_id}`);
    expect(list.body.map(({ id }: { id: string }) => id)).toContain(made.id);
    expect((await me.call(`GET /list/user/${made.user_id}`)).status).toBe(403);
  });
});

it("creates once for one Idempotency-Key", async () => {
  const body = { chat: { title: "Once", models: [], ...conversation() } };
  const headers = { "idempotency-key": randomUUID() };
  const answers = await Promise.all(Array.from({ length: 5 }, () => me.call("POST /new", body, headers)));
  const again = await me.call("POST /new", body, headers);
  expect(again.status).toBe(200);
  const ids = answers.filter(({ status }) => status === 200).map(({ body: { id } }) => id);
  expect(new Set([...ids, again.body.id]).size).toBe(1);
  expect((await me.call("POST /new", { chat: { title: "Other", models: [] } }, headers)).status).toBe(409);
});
