import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type ChatClient, chatClient, conversation, replied, said } from "#plugins/chats/chats.fixture.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { type FolderClient, folderClient, permit } from "./folders.fixture.ts";

let app: App;
let me: FolderClient;
let chats: ChatClient;

beforeAll(async () => {
  app = await useApp();
});
beforeEach(async () => {
  me = folderClient(app, await app.user());
  chats = chatClient(app, me.user.token);
});
afterAll(() => app?.close());

const titles = async (route: string) =>
  (await chats.call(`GET ${route}`)).body.map(({ title }: { title: string }) => title).toSorted() as string[];

/** `a`, `a/b`, `a/b/c` and `d`. */
async function tree() {
  const a = await me.make("a");
  const b = await me.make("b", { parent_id: a });
  const c = await me.make("c", { parent_id: b });
  return { a, b, c, d: await me.make("d") };
}

describe("folders inside folders", () => {
  it("move with all that lies inside them, but never into it (promise S9)", async () => {
    const { a, b, c, d } = await tree();
    expect(await me.names()).toEqual(["a", "a/b", "a/b/c", "d"]);
    for (const inside of [a, b, c]) {
      const { status, body } = await me.call(`POST /${a}/update/parent`, { parent_id: inside });
      expect([status, body.detail]).toEqual([400, "A folder cannot lie inside itself."]);
    }
    const other = folderClient(app, await app.user());
    for (const parent_id of ["unknown", await other.make("x")]) {
      expect((await me.call(`POST /${a}/update/parent`, { parent_id })).status).toBe(404);
    }
    expect((await me.call(`POST /${a}/update/parent`, {})).status).toBe(422);
    expect((await me.call(`POST /${a}/update/parent`, { parent_id: d })).body.parent_id).toBe(d);
    expect(await me.names()).toEqual(["d", "d/a", "d/a/b", "d/a/b/c"]);
    expect((await me.call(`POST /${b}/update/parent`, { parent_id: null })).body.parent_id).toBeNull();
    expect(await me.names()).toEqual(["b", "b/c", "d", "d/a"]);
  });

  // Promise R23: two who see different trees must not close a circle between them.
  it("make no circle, whoever moves them at once", async () => {
    const ids = await Promise.all(["1", "2", "3", "4"].map((name) => me.make(name)));
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(ids.map((id) => me.call(`POST /${id}/update/parent`, { parent_id: null })));
      const moves = ids.map((id, at) =>
        me.call(`POST /${id}/update/parent`, { parent_id: ids[(at + 1) % ids.length] }),
      );
      const statuses = (await Promise.all(moves)).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([200, 200, 200, 400]);
      // A circle would never end here, and its members would stand below no root.
      const { rows } = await app.running.database.query(
        `with recursive below as (
          select id from folder where user_id = $1 and parent_id is null
          union select f.id from folder f join below on f.parent_id = below.id)
        select id from below`,
        [me.user.id],
      );
      expect(rows.length).toBe(ids.length);
    }
  });

  it("go with the one they lie in, and chats with them or into no folder", async () => {
    for (const keeps of [true, false]) {
      const { a, b, d } = await tree();
      const [one, two, three] = [
        await chats.make({ title: "one", ...conversation() }, { folder_id: a }),
        await chats.make({ title: "two" }, { folder_id: b }),
        await chats.make({ title: "three" }, { folder_id: d }),
      ];
      await chats.call(`POST /${one.id}/share`);
      await chats.call(`POST /${two.id}/archive`);
      await chats.call(`POST /${two.id}/tags`, { name: "only here" });
      expect((await me.call(`DELETE /${a}${keeps ? "?delete_contents=false" : ""}`)).body).toBe(true);
      expect(await me.names()).toEqual(["d"]);
      const left = [one, two].map(({ id }) => chats.call(`GET /${id}`));
      const shown = (await Promise.all(left)).map(({ status, body }) => [status, body.folder_id]);
      expect(shown).toEqual(
        keeps
          ? [
              [200, null],
              [200, null],
            ]
          : [
              [404, undefined],
              [404, undefined],
            ],
      );
      expect((await chats.read(three.id)).folder_id).toBe(d);
      expect((await chats.call("GET /all/tags")).body.length).toBe(keeps ? 1 : 0);
      await me.call(`DELETE /${d}`);
      await chats.call("DELETE /");
    }
  });

  it("lose no chat that comes while they go", async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await me.make(`f${round}`);
      const chat = await chats.make({ title: `c${round}` });
      const [moved] = await Promise.all([
        chats.call(`POST /${chat.id}/folder`, { folder_id: id }),
        me.call(`DELETE /${id}?delete_contents=false`),
      ]);
      expect([200, 404, 409]).toContain(moved.status);
      expect((await chats.read(chat.id)).folder_id).toBeNull();
    }
  });

  it("need chat.delete to go with their chats", async () => {
    const id = await me.make("f");
    const chat = await chats.make({ title: "c" }, { folder_id: id });
    const admin = await app.admin();
    const defaults = (await admin.call("GET /api/v1/users/default/permissions")).body;
    const body = { ...defaults, chat: { ...defaults.chat, delete: false } };
    await admin.call("POST /api/v1/users/default/permissions", body);
    try {
      expect((await me.call(`DELETE /${id}`)).status).toBe(403);
      expect(await me.names()).toEqual(["f"]);
      expect((await me.call(`DELETE /${id}?delete_contents=false`)).status).toBe(200);
      expect((await chats.read(chat.id)).folder_id).toBeNull();
      const deleter = await me.make("g");
      await permit(app, [me.user], { chat: { delete: true } });
      expect((await me.call(`DELETE /${deleter}`)).status).toBe(200);
    } finally {
      await admin.call("POST /api/v1/users/default/permissions", defaults);
    }
  });
});

describe("chats in folders", () => {
  it("are listed there a page of ten at a time, and elsewhere only on request", async () => {
    const id = await me.make("f");
    for (let n = 10; n < 21; n += 1) {
      await chats.make({ title: `t${n}` }, { folder_id: id });
    }
    const loose = await chats.make({ title: "loose" });
    expect(await titles("/")).toEqual(["loose"]);
    expect((await titles("/?include_folders=true")).length).toBe(12);
    expect((await titles(`/folder/${id}`)).length).toBe(11);
    expect((await titles(`/folder/${id}/list`)).length).toBe(10);
    expect((await titles(`/folder/${id}/list?page=2`)).length).toBe(1);
    expect((await chats.call(`POST /${loose.id}/folder`, { folder_id: id })).body.folder_id).toBe(id);
    expect(await titles("/")).toEqual([]);
    expect((await titles(`/folder/${id}/list?page=2`)).length).toBe(2);
    expect((await chats.call(`POST /${loose.id}/folder`, { folder_id: null })).body.folder_id).toBeNull();
    expect(await titles("/")).toEqual(["loose"]);
  });

  it("are refused by folders of others, and nothing is written", async () => {
    const theirs = await folderClient(app, await app.user()).make("theirs");
    const chat = await chats.make({ title: "c" });
    const before = await chats.read(chat.id);
    for (const folder_id of [theirs, "unknown"]) {
      expect((await chats.call(`POST /${chat.id}/folder`, { folder_id })).status).toBe(404);
      expect((await chats.call("POST /new", { chat: { title: "n", models: [] }, folder_id })).status).toBe(
        404,
      );
      expect((await chats.call(`GET /folder/${folder_id}`)).status).toBe(404);
      expect((await chats.call(`GET /folder/${folder_id}/list`)).status).toBe(404);
      const [imported] = (await chats.call("POST /import", { chats: [{ chat: { title: "i" }, folder_id }] }))
        .body;
      expect(imported.folder_id).toBeNull();
    }
    expect(await chats.read(chat.id)).toEqual(before);
    expect(await titles("/")).toEqual(["c", "i", "i"]);
  });

  it("come with copies and imports, and are found by folder: with those further inside", async () => {
    const { a, b } = await tree();
    const work = await me.make("Big Plans");
    const one = await chats.make({ title: "one moon" }, { folder_id: a });
    await chats.make({ title: "two moon" }, { folder_id: b });
    await chats.make({ title: "three moon" }, { folder_id: work });
    expect((await chats.call(`POST /${one.id}/clone`)).body.folder_id).toBe(a);
    const body = { chats: [{ chat: { title: "imported" }, folder_id: b }] };
    expect((await chats.call("POST /import", body)).body[0].folder_id).toBe(b);
    const search = (text: string) => titles(`/search?text=${encodeURIComponent(text)}`);
    expect(await search("folder:A")).toEqual(["Clone of one moon", "imported", "one moon", "two moon"]);
    expect(await search(`folder:${b} moon`)).toEqual(["two moon"]);
    expect(await search('folder:"big plans" moon')).toEqual(["three moon"]);
    expect(await search("folder:big_plans")).toEqual(["three moon"]);
    expect(await search("folder:nowhere moon")).toEqual([]);
  });

  it("are counted while unread, and marked as read at once, for other windows too", async () => {
    const { a, b } = await tree();
    const [one, two, gone] = [
      await chats.make({ title: "1", ...conversation() }, { folder_id: a }),
      await chats.make({ title: "2" }, { folder_id: a }),
      await chats.make({ title: "3" }, { folder_id: b }),
    ];
    const counts = async () => {
      const rows = (await me.call("GET /")).body as { name: string; unread_count: number }[];
      return Object.fromEntries(rows.map(({ name, unread_count }) => [name, unread_count]));
    };
    expect(await counts()).toEqual({ a: 0, b: 0, c: 0, d: 0 });
    for (const { id } of [one, two, gone]) {
      await chats.call(`POST /${id}/unread`);
    }
    await chats.call(`POST /${gone.id}/archive`);
    expect(await counts()).toEqual({ a: 2, b: 0, c: 0, d: 0 });
    expect((await me.call(`GET /${a}`)).body.unread_count).toBe(2);
    const socket = await connectPlain(app.url, { token: me.user.token });
    await socket.sessionId();
    expect((await me.call(`POST /${a}/read`)).body.unread_count).toBe(0);
    const told = await socket.event((event, { data }) => event === "events" && data.type === "chat:list");
    expect(told.data.data).toEqual({ folder_id: a, folder_unread_counts: { [a]: 0 } });
    expect(await counts()).toEqual({ a: 0, b: 0, c: 0, d: 0 });
    const messages = { u2: said("u2", "more", { parentId: "a1" }), a2: replied("a2", "u2") };
    await chats.call(`POST /${one.id}`, { chat: { history: { currentId: "a2", messages } } });
    expect((await counts())["a"]).toBe(0);
    socket.close();
  });
});
