import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { createGrants } from "#storage/grants.ts";
import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { type FolderClient, folderClient, grant, permit, setVariables } from "./folders.fixture.ts";

let app: App;
let owner: FolderClient;
let reader: FolderClient;
let writer: FolderClient;
let stranger: FolderClient;
let id: string;

beforeAll(async () => {
  app = await useApp();
});
beforeEach(async () => {
  const join = async () => folderClient(app, await app.user());
  [owner, reader, writer, stranger] = [await join(), await join(), await join(), await join()];
  await permit(app, [owner.user], { sharing: { folders: true } });
  const data = { system_prompt: "Answer in rhyme.", model_ids: ["guide"] };
  id = await owner.make("Poems", { data, parent_id: await owner.make("Private") });
});
afterAll(() => app?.close());

const share = (by: FolderClient, access_grants: unknown[]) =>
  by.call(`POST /${id}/access/update`, { access_grants });
const shareAll = () => share(owner, [grant(reader.user.id), grant(writer.user.id, "write")]);

describe("a shared folder", () => {
  it("is read by who was given it, without its prompt and where it lies", async () => {
    const given = await shareAll();
    expect(given.body.access_grants).toMatchObject([
      { principal_id: reader.user.id, permission: "read", resource_type: "folder", resource_id: id },
      { principal_id: writer.user.id, permission: "write" },
    ]);
    const seen = await reader.call(`GET /${id}`);
    expect(seen.body).toMatchObject({
      name: "Poems",
      user_id: owner.user.id,
      parent_id: null,
      data: { model_ids: ["guide"] },
      write_access: false,
      user: { id: owner.user.id, name: owner.user.name },
    });
    expect(seen.text).not.toContain("rhyme");
    expect(seen.body.access_grants).toBeUndefined();
    expect((await reader.call("GET /shared")).body).toEqual([
      {
        id,
        name: "Poems",
        meta: {},
        parent_id: null,
        user_id: owner.user.id,
        user: { id: owner.user.id, name: owner.user.name, email: owner.user.email, role: "user" },
        write_access: false,
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
      },
    ]);
    expect((await reader.call("GET /")).body).toEqual([]);
    expect((await owner.call("GET /shared")).body).toEqual([]);
    expect((await stranger.call("GET /shared")).body).toEqual([]);
    expect((await stranger.call(`GET /${id}/shared/chats`)).status).toBe(404);
  });

  it("is changed by who was given that, and moved, shared and deleted by its owner alone", async () => {
    await shareAll();
    const own = ["/update/parent", "/update/expanded", "/access/update", "/read"];
    const body = { parent_id: null, is_expanded: true, access_grants: [] };
    for (const path of own) {
      for (const [who, status] of [
        [reader, 403],
        [writer, 403],
        [stranger, 404],
      ] as const) {
        expect([path, (await who.call(`POST /${id}${path}`, body)).status]).toEqual([path, status]);
      }
    }
    for (const [who, status] of [
      [reader, 403],
      [writer, 403],
      [stranger, 404],
    ] as const) {
      expect((await who.call(`DELETE /${id}`)).status).toBe(status);
      expect((await who.call("POST /", { name: "Inside", parent_id: id })).status).toBe(404);
    }
    expect((await reader.call(`POST /${id}/update`, { name: "Mine" })).status).toBe(403);
    expect((await stranger.call(`POST /${id}/update`, { name: "Mine" })).status).toBe(404);
    const changed = await writer.call(`POST /${id}/update`, {
      name: "Odes",
      data: { system_prompt: "Sing." },
    });
    expect(changed.body).toMatchObject({
      name: "Odes",
      write_access: true,
      data: { system_prompt: "Sing." },
    });
    expect(changed.body.access_grants).toBeUndefined();
    expect((await owner.call(`GET /${id}`)).body).toMatchObject({
      name: "Odes",
      data: { system_prompt: "Sing.", model_ids: ["guide"] },
      access_grants: [{ principal_id: reader.user.id }, { principal_id: writer.user.id }],
    });
  });

  it("is shared by groups as well, never with everybody, and only by who may", async () => {
    const group = await permit(app, [owner.user, reader.user], {});
    const wanted = [
      grant(group, "read", "group"),
      grant("*"),
      grant("*", "read", "anyone"),
      grant("ghost"),
      grant("ghost", "read", "group"),
    ];
    expect((await share(owner, wanted)).body.access_grants).toMatchObject([
      { principal_type: "group", principal_id: group },
    ]);
    expect((await reader.call(`GET /${id}`)).status).toBe(200);
    expect((await stranger.call(`GET /${id}`)).status).toBe(404);
    const admin = await app.admin();
    await admin.call(`POST /api/v1/groups/id/${group}/users/remove`, { user_ids: [reader.user.id] });
    expect((await reader.call(`GET /${id}`)).status).toBe(404);
    const plain = await stranger.make("Plain");
    const asked = await stranger.call(`POST /${plain}/access/update`, {
      access_grants: [grant(reader.user.id)],
    });
    expect([asked.status, asked.body.detail]).toEqual([403, "You may not share folders."]);
    expect((await stranger.call(`POST /${plain}/access/update`, { access_grants: [] })).status).toBe(200);
    const chief = folderClient(app, await app.admin());
    const all = await chief.make("Everybody's");
    const open = await chief.call(`POST /${all}/access/update`, { access_grants: [grant("*")] });
    expect(open.body.access_grants).toEqual([]);
  });

  it("gives individuals nothing where access_grants.allow_users is off", async () => {
    const admin = await app.admin();
    const defaults = (await admin.call("GET /api/v1/users/default/permissions")).body;
    const body = { ...defaults, access_grants: { allow_users: false, allow_groups: true } };
    await share(owner, [grant(reader.user.id)]);
    await admin.call("POST /api/v1/users/default/permissions", body);
    try {
      const wanted = [grant(reader.user.id), grant(writer.user.id)];
      // What was given before may stay.
      expect((await share(owner, wanted)).body.access_grants).toMatchObject([
        { principal_id: reader.user.id },
      ]);
    } finally {
      await admin.call("POST /api/v1/users/default/permissions", defaults);
    }
  });

  it("leaves no grant behind", async () => {
    await shareAll();
    await owner.call(`DELETE /${id}`);
    const held = "select id from access_grant where resource_type = 'folder' and resource_id = $1";
    expect((await app.running.database.query(held, [id])).rows).toEqual([]);
    expect((await reader.call("GET /shared")).body).toEqual([]);
  });

  it("keeps its grants, and a folder that is gone loses them, when strays are swept", async () => {
    const { database, gathered } = app.running;
    await shareAll();
    await database.query(
      `insert into access_grant (resource_type, resource_id, principal_type, principal_id, permission)
       values ('folder', 'gone', 'user', $1, 'read')`,
      [reader.user.id],
    );
    await createGrants(database).sweep(gathered.resources);
    const { rows } = await database.query(
      "select distinct resource_id from access_grant where resource_type = 'folder' and resource_id in ($1, 'gone')",
      [id],
    );
    expect(rows).toEqual([{ resource_id: id }]);
  });
});

describe("chats in a shared folder", () => {
  it("are read by who may read the folder, and written by their owner", async () => {
    const mine = chatClient(app, owner.user.token);
    const chat = await mine.make(
      { title: "Ode", ...conversation() },
      { folder_id: id, variables: { secret: 1 } },
    );
    const hidden = await mine.make({ title: "Put away" }, { folder_id: id });
    await mine.call(`POST /${hidden.id}/archive`);
    const theirs = chatClient(app, reader.user.token);
    expect((await theirs.call(`GET /${chat.id}`)).status).toBe(404);
    await shareAll();
    const listed = [{ id: chat.id, title: "Ode", last_read_at: null, active: false }];
    expect((await reader.call(`GET /${id}/shared/chats`)).body).toMatchObject(listed);
    expect((await reader.call(`GET /${id}/shared/chats?page=2`)).body).toEqual([]);
    expect((await theirs.call(`GET /folder/${id}`)).body).toMatchObject(listed);
    expect((await owner.call(`GET /${id}/shared/chats`)).body[0].last_read_at).toEqual(expect.any(Number));
    const seen = await theirs.read(chat.id);
    expect(seen).toMatchObject({
      chat: chat.chat,
      user_id: owner.user.id,
      variables: {},
      last_read_at: null,
    });
    expect((await theirs.call(`GET /${chat.id}/messages`)).body.messages.length).toBe(2);
    expect((await theirs.call(`GET /${hidden.id}`)).status).toBe(404);
    const writing = [
      "POST /ID",
      "DELETE /ID",
      "POST /ID/pin",
      "POST /ID/share",
      "POST /ID/clone",
      "POST /ID/read",
    ];
    for (const by of [theirs, chatClient(app, writer.user.token)]) {
      for (const route of writing) {
        const { status } = await by.call(route.replace("ID", chat.id), { chat: { title: "changed" } });
        expect([route, status]).toEqual([route, 403]);
      }
      const own = await by.make({ title: "own" });
      expect((await by.call(`POST /${own.id}/folder`, { folder_id: id })).status).toBe(403);
    }
    expect((await chatClient(app, stranger.user.token).call(`GET /${chat.id}`)).status).toBe(404);
    expect(await mine.read(chat.id)).toMatchObject(chat);
    await share(owner, []);
    expect((await theirs.call(`GET /${chat.id}`)).status).toBe(404);
    expect((await theirs.call(`GET /folder/${id}`)).status).toBe(404);
  });

  it("are not read by who may not use folders", async () => {
    const chat = await chatClient(app, owner.user.token).make(conversation(), { folder_id: id });
    await shareAll();
    const theirs = chatClient(app, reader.user.token);
    expect((await theirs.call(`GET /${chat.id}`)).status).toBe(200);
    await setVariables(app, { ENABLE_FOLDERS: false });
    try {
      expect((await theirs.call(`GET /${chat.id}`)).status).toBe(404);
    } finally {
      await setVariables(app, { ENABLE_FOLDERS: true });
    }
  });
});
