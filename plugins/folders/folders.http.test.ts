import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import type { SystemEvent } from "#kernel/events.ts";
import { events } from "#kernel/services.ts";
import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { upload } from "#plugins/files/client.fixture.ts";
import { type FolderClient, folderClient, setVariables } from "./folders.fixture.ts";

let app: App;
let me: FolderClient;
let other: FolderClient;
const heard: SystemEvent[] = [];
let stopListening: () => void;

beforeAll(async () => {
  app = await useApp();
  stopListening = app.running
    .service(events)
    .onSystemEvent((event) => void (event.event.startsWith("folder.") && heard.push(event)));
});
beforeEach(async () => {
  me = folderClient(app, await app.user());
  other = folderClient(app, await app.user());
});
afterAll(async () => {
  stopListening?.();
  await app?.close();
});

const file = async (owner: FolderClient, name: string) => {
  const sent = { token: owner.user.token, query: "?process=false" };
  return (await upload(app, [name, `text of ${name}`], sent)).body.id as string;
};

describe("a folder", () => {
  it("is made, read, listed and changed, and says so to those who listen", async () => {
    const meta = { icon: "🌒", color: "blue" };
    const data = { system_prompt: "Be brief.", model_ids: ["guide"], theme: 1 };
    const made = await me.call("POST /", { name: " Moon ", meta, data });
    expect(made.status).toBe(200);
    const { id } = made.body;
    expect(made.body).toEqual({
      id,
      user_id: me.user.id,
      parent_id: null,
      name: "Moon",
      items: null,
      data,
      meta,
      is_expanded: false,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      unread_count: 0,
      write_access: true,
      user: { id: me.user.id, name: me.user.name, email: me.user.email, role: "user" },
      access_grants: [],
    });
    expect((await me.call(`GET /${id}`)).body).toEqual(made.body);
    const { created_at, updated_at } = made.body;
    expect((await me.call("GET /")).body).toEqual([
      {
        id,
        name: "Moon",
        meta,
        parent_id: null,
        is_expanded: false,
        unread_count: 0,
        created_at,
        updated_at,
      },
    ]);
    expect((await me.call(`POST /${id}/update/expanded`, { is_expanded: true })).body.is_expanded).toBe(true);
    const changed = await me.call(`POST /${id}/update`, {
      name: "Sun",
      data: { system_prompt: null, theme: 2 },
      meta: { icon: "☀️" },
    });
    expect(changed.body).toMatchObject({
      name: "Sun",
      meta: { icon: "☀️", color: "blue" },
      is_expanded: true,
    });
    expect(changed.body.data).toEqual({ model_ids: ["guide"], theme: 2 });
    expect((await me.call(`DELETE /${id}`)).body).toBe(true);
    expect((await me.call(`GET /${id}`)).status).toBe(404);
    const mine = heard.filter(({ subject }) => subject?.id === id);
    expect(mine.map(({ event }) => event)).toEqual(["folder.created", "folder.updated", "folder.deleted"]);
    expect(mine[0]).toMatchObject({ actor: { id: me.user.id }, subject: { type: "folder" } });
  });

  it("is nothing to others, administrators among them", async () => {
    const id = await me.make("Mine");
    for (const stranger of [other, folderClient(app, await app.admin())]) {
      const foreign = await stranger.call(`GET /${id}`);
      const unknown = await stranger.call("GET /00000000-0000-4000-8000-000000000000");
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      expect((await stranger.call("GET /")).body).toEqual([]);
      expect((await stranger.call("POST /", { name: "Inside", parent_id: id })).status).toBe(404);
      expect((await stranger.call(`DELETE /${id}?delete_contents=false`)).status).toBe(404);
    }
    expect(await me.names()).toEqual(["Mine"]);
  });

  it.each([
    ["no name", {}],
    ["an empty name", { name: " " }],
    ["a name that is too long", { name: "n".repeat(256) }],
    ["a prompt that is no text", { name: "n", data: { system_prompt: 1 } }],
    ["files that are no list", { name: "n", data: { files: {} } }],
    ["a file without an id", { name: "n", data: { files: [{ type: "file" }] } }],
  ])("with %s is refused, and the field named", async (_what, body) => {
    const { status, text } = await me.call("POST /", body);
    expect(status).toBe(422);
    expect(text).toMatch(/name|system_prompt|files/);
    expect(await me.names()).toEqual([]);
  });

  it("keeps items as they are sent", async () => {
    const items = { chat_ids: ["one"], odd: [1, null, { a: "b" }] };
    const { body } = await me.call("POST /", { name: "With items", items });
    expect(body.items).toEqual(items);
    expect((await me.call(`POST /${body.id}/update`, { name: "Still" })).body.items).toEqual(items);
    expect((await me.call(`POST /${body.id}/update`, { items: ["two"] })).body.items).toEqual(["two"]);
    expect((await me.call(`GET /${body.id}`)).body.items).toEqual(["two"]);
    expect((await me.call(`POST /${body.id}/update`, { items: null })).body.items).toBeNull();
  });

  it("has another name than those beside it, whatever the case", async () => {
    const work = await me.make("Work");
    await other.make("Work");
    const taken = await me.call("POST /", { name: "work" });
    expect([taken.status, taken.body.detail]).toEqual([409, 'There is a folder named "work" here already.']);
    const inside = await me.make("work", { parent_id: work });
    const home = await me.make("Home");
    expect((await me.call(`POST /${home}/update`, { name: "WORK" })).status).toBe(409);
    expect((await me.call(`POST /${inside}/update/parent`, { parent_id: null })).status).toBe(409);
    expect((await me.call(`POST /${work}/update`, { name: "work" })).body.name).toBe("work");
    const tries = Array.from({ length: 8 }, () => me.call("POST /", { name: "Once" }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
  });

  it("goes with its owner's account", async () => {
    const id = await me.make("Gone", { parent_id: await me.make("Parent") });
    await chatClient(app, me.user.token).make(conversation(), { folder_id: id });
    const admin = await app.admin();
    expect((await admin.call(`DELETE /api/v1/users/${me.user.id}`)).status).toBe(200);
    const { rows } = await app.running.database.query("select name from folder where user_id = $1", [
      me.user.id,
    ]);
    expect(rows).toEqual([]);
  });
});

describe("files of a folder", () => {
  it("are one's own, or others that one may read, and are left out once they are gone", async () => {
    const [mine, second, theirs] = [await file(me, "a"), await file(me, "b"), await file(other, "c")];
    const id = await me.make("Files", { data: { files: [{ type: "file", id: mine, name: "a", url: "x" }] } });
    expect((await me.call(`GET /${id}`)).body.data.files).toEqual([{ type: "file", id: mine, name: "a" }]);
    for (const foreign of [theirs, "00000000-0000-4000-8000-000000000000", "no-id"]) {
      const files = [{ type: "file", id: mine }, { id: foreign }];
      const answer = await me.call(`POST /${id}/update`, { name: "Renamed", data: { files } });
      expect([answer.status, answer.body.detail]).toEqual([404, "File not found"]);
    }
    const collection = [{ type: "collection", id: "of-nobody" }];
    expect((await me.call("POST /", { name: "K", data: { files: collection } })).status).toBe(404);
    expect(await me.names()).toEqual(["Files"]);
    const files = [
      { type: "file", id: mine },
      { type: "file", id: second },
    ];
    expect((await me.call(`POST /${id}/update`, { data: { files } })).body.data.files).toEqual(files);
    await me.user.call(`DELETE /api/v1/files/${mine}`);
    expect((await me.call(`GET /${id}`)).body.data.files).toEqual(files.slice(1));
    // What lies there already does not stand in the way of saving the form again.
    expect((await me.call(`POST /${id}/update`, { data: { files } })).status).toBe(200);
  });

  it("are at most FOLDER_MAX_FILE_COUNT", async () => {
    const ids = [await file(me, "1"), await file(me, "2"), await file(me, "3")];
    const files = ids.map((id) => ({ type: "file", id }));
    await setVariables(app, { FOLDER_MAX_FILE_COUNT: 2 });
    try {
      const { status, body } = await me.call("POST /", { name: "Full", data: { files } });
      expect([status, body.detail]).toEqual([400, "data.files holds 3 files; a folder holds at most 2."]);
      const id = await me.make("Full", { data: { files: files.slice(0, 2) } });
      expect((await me.call(`POST /${id}/update`, { data: { files } })).status).toBe(400);
      await setVariables(app, { FOLDER_MAX_FILE_COUNT: 0 });
      expect((await me.call(`POST /${id}/update`, { data: { files: files.slice(1, 2) } })).status).toBe(200);
      expect((await me.call("POST /", { name: "More", data: { files: files.slice(1) } })).status).toBe(400);
      const { features } = (await me.user.call("GET /api/config")).body;
      expect(features).toMatchObject({ enable_folders: true, folder_max_file_count: 0 });
    } finally {
      await setVariables(app, { FOLDER_MAX_FILE_COUNT: null });
    }
  });
});

describe("whoever may not use folders", () => {
  const routes = ["GET /", "GET /shared", "POST /", "GET /x", "POST /x/update", "DELETE /x"];

  it("is refused, and finds the chats of folders among all others", async () => {
    const id = await me.make("Kept");
    const chats = chatClient(app, me.user.token);
    const made = await chats.make(conversation(), { folder_id: id });
    expect((await chats.call("GET /")).body).toEqual([]);
    const refusedEverywhere = async (who: FolderClient) => {
      for (const route of routes) {
        const body = route.startsWith("POST") ? { name: "n" } : undefined;
        expect([route, (await who.call(route, body)).status]).toEqual([route, 403]);
      }
    };
    await setVariables(app, { ENABLE_FOLDERS: false });
    try {
      await refusedEverywhere(me);
      await refusedEverywhere(folderClient(app, await app.admin()));
      expect((await chats.call("GET /")).body).toMatchObject([{ id: made.id }]);
      expect((await chats.call(`GET /folder/${id}`)).status).toBe(403);
      expect(
        (await chats.call("POST /new", { chat: { title: "t", models: [] }, folder_id: id })).status,
      ).toBe(403);
      const { features } = (await me.user.call("GET /api/config")).body;
      expect(features.enable_folders).toBe(false);
    } finally {
      await setVariables(app, { ENABLE_FOLDERS: true });
    }
    expect(await me.names()).toEqual(["Kept"]);
    const admin = await app.admin();
    const defaults = (await admin.call("GET /api/v1/users/default/permissions")).body;
    expect(defaults).toMatchObject({ features: { folders: true }, sharing: { folders: false } });
    const without = { ...defaults, features: { ...defaults.features, folders: false } };
    await admin.call("POST /api/v1/users/default/permissions", without);
    try {
      await refusedEverywhere(me);
      expect((await chats.call("GET /")).body).toMatchObject([{ id: made.id }]);
      expect((await folderClient(app, await app.admin()).call("GET /")).status).toBe(200);
    } finally {
      await admin.call("POST /api/v1/users/default/permissions", defaults);
    }
    expect((await me.call(`GET /${id}`)).body.name).toBe("Kept");
  });
});
