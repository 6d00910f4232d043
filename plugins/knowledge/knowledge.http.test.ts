import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { unzipSync, strFromU8 } from "fflate";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import type { SystemEvent } from "#kernel/events.ts";
import { events } from "#kernel/services.ts";
import { upload } from "#plugins/files/client.fixture.ts";
import { grant } from "#plugins/folders/folders.fixture.ts";
import { curator, type KnowledgeClient, member } from "./knowledge.fixture.ts";

let app: App;
let me: KnowledgeClient;
let other: KnowledgeClient;
const heard: SystemEvent[] = [];
let stopListening: () => void;

const emptyContent =
  "The content provided is empty. Please ensure that there is text or data present before proceeding.";

beforeAll(async () => {
  app = await useApp();
  stopListening = app.running
    .service(events)
    .onSystemEvent((event) => void (event.event.startsWith("knowledge.") && heard.push(event)));
});
beforeEach(async () => {
  me = await curator(app);
  other = await member(app);
  heard.length = 0;
});
afterAll(async () => {
  stopListening?.();
  await app?.close();
});

describe("a collection", () => {
  it("is made, read, listed, changed and deleted, and says so to those who listen", async () => {
    const made = await me.call("POST /create", { name: " Handbook ", description: "Rules of the house" });
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      user_id: me.user.id,
      type: "collection",
      status: "processed",
      name: "Handbook",
      description: "Rules of the house",
      access_grants: [],
      write_access: true,
      file_count: 0,
    });
    const { id } = made.body;
    expect((await me.call("GET /")).body).toMatchObject({
      total: 1,
      items: [{ id, user: { id: me.user.id, name: me.user.name }, file_count: 0 }],
    });
    const changed = await me.call(`POST /${id}/update`, { name: "House rules" });
    expect(changed.body).toMatchObject({ name: "House rules", description: "Rules of the house" });
    expect((await me.call(`DELETE /${id}/delete`)).body).toBe(true);
    expect((await me.call(`GET /${id}`)).status).toBe(404);
    expect(heard.map(({ event }) => event)).toEqual([
      "knowledge.created",
      "knowledge.updated",
      "knowledge.deleted",
    ]);
  });

  it("is made by nobody without the permission", async () => {
    expect(await other.call("POST /create", { name: "Mine" })).toMatchObject({ status: 403 });
  });

  it("is found by name and description, by whose it is, and in order", async () => {
    const alpha = await me.make("Alpha 100%", { description: "first" });
    const beta = await me.make("beta", { access_grants: [grant(other.user.id)] });
    const search = async (who: KnowledgeClient, query: string) =>
      (await who.call(`GET /search?${query}`)).body.items.map((item: { id: string }) => item.id);
    expect(await search(me, "order_by=name&direction=asc")).toEqual([alpha, beta]);
    expect(await search(me, "query=FIRST")).toEqual([alpha]);
    expect(await search(me, "query=%25")).toEqual([alpha]);
    expect(await search(me, "view_option=shared")).toEqual([]);
    expect(await search(other, "view_option=created")).toEqual([]);
    expect(await search(me, "source=external")).toEqual([]);
  });
});

describe("access", () => {
  it("lets readers read, editors change files, and owners alone end a collection", async () => {
    await app.admin();
    const { id, files } = await me.filled("Shared", ["a.txt"]);
    await app.admin();
    expect((await other.call(`GET /${id}`)).status).toBe(404);
    const admin = await app.admin();
    const share = (permission: "read" | "write") =>
      admin.call(`POST /api/v1/knowledge/${id}/access/update`, {
        access_grants: [grant(other.user.id, permission)],
      });
    expect((await share("read")).status).toBe(200);
    expect((await other.call(`GET /${id}`)).body).toMatchObject({ write_access: false, access_grants: [] });
    const read = await other.user.call(`GET /api/v1/files/${files[0]}`);
    expect(read.body.data.content).toBe("The text of a.txt.");
    expect((await other.call(`POST /${id}/file/remove`, { file_id: files[0] })).status).toBe(403);
    expect((await other.call(`GET /${id}/export`)).status).toBe(403);

    await share("write");
    const own = await other.file("b.txt");
    expect((await other.call(`POST /${id}/file/add`, { file_id: own })).status).toBe(200);
    expect(await me.names(id)).toEqual(["a.txt", "b.txt"]);
    expect((await other.call(`DELETE /${id}/delete`)).status).toBe(403);
    expect((await other.call(`POST /${id}/reset`)).status).toBe(403);
    // Promise S27: an editor takes a file of the owner's out, and it stays the owner's.
    const removed = await other.call(`POST /${id}/file/remove?delete_file=true`, { file_id: files[0] });
    expect(removed.status).toBe(200);
    expect((await me.user.call(`GET /api/v1/files/${files[0]}`)).status).toBe(200);
    expect((await other.user.call(`GET /api/v1/files/${files[0]}`)).status).toBe(404);
  });

  it("takes no files that one reads only through a share, and tells absent from foreign ones by nothing", async () => {
    const theirs = await curator(app);
    const { id: source, files } = await theirs.filled("Theirs", ["secret.txt"]);
    const mine = await me.make("Mine");
    const foreign = await me.call(`POST /${mine}/file/add`, { file_id: files[0] });
    const absent = await me.call(`POST /${mine}/file/add`, {
      file_id: "4b1c1fd4-0000-4000-8000-000000000000",
    });
    expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
    const admin = await app.admin();
    await admin.call(`POST /api/v1/knowledge/${source}/access/update`, {
      access_grants: [grant(me.user.id)],
    });
    expect((await me.call(`POST /${mine}/file/add`, { file_id: files[0] })).status).toBe(403);
    expect(await me.names(mine)).toEqual([]);
  });

  it("keeps the files of one collection from the routes of another", async () => {
    const theirs = await curator(app);
    const b = await theirs.filled("B", ["b.txt"]);
    const directory = (await theirs.call(`POST /${b.id}/dirs/create`, { name: "Inner" })).body.id;
    const a = await me.filled("A", ["a.txt"]);
    for (const [route, body] of [
      ["file/remove", { file_id: b.files[0] }],
      ["file/update", { file_id: b.files[0] }],
      ["file/move", { file_id: b.files[0], directory_id: null }],
      ["file/move", { file_id: a.files[0], directory_id: directory }],
      ["sync/cleanup", { file_ids: [a.files[0], b.files[0]], dir_ids: [] }],
      ["sync/cleanup", { file_ids: [], dir_ids: [directory] }],
      [`dirs/${directory}/update`, { name: "Mine" }],
      ["dirs/create", { name: "Mine", parent_id: directory }],
    ] as const) {
      expect([route, (await me.call(`POST /${a.id}/${route}`, body)).status]).toEqual([route, 404]);
    }
    expect((await me.call(`DELETE /${a.id}/dirs/${directory}/delete`)).status).toBe(404);
    expect(await me.names(a.id)).toEqual(["a.txt"]);
    expect(await theirs.names(b.id)).toEqual(["b.txt"]);
  });
});

describe("files", () => {
  it("are added once they have been read, and refused with the specified text before", async () => {
    const id = await me.make("Notes");
    const sent = { token: me.user.token, query: "?process=false" };
    const unread = (await upload(app, ["raw.txt", "text"], sent)).body.id;
    expect(await me.call(`POST /${id}/file/add`, { file_id: unread })).toMatchObject({
      status: 400,
      body: { detail: emptyContent },
    });
    const ready = await me.file("ready.txt");
    const batch = await me.call(`POST /${id}/files/batch/add`, [{ file_id: ready }, { file_id: unread }]);
    expect(batch.body).toMatchObject({
      files: [{ id: ready, filename: "ready.txt", status: "processed", error: null }],
      warnings: { errors: [`raw.txt: ${emptyContent}`] },
      file_count: 1,
      size: "The text of ready.txt.".length,
    });
    expect((await me.call(`POST /${id}/file/add`, { file_id: ready })).body.files).toHaveLength(1);
  });

  it("join the collection that their upload names, in its directory", async () => {
    const id = await me.make("Uploads");
    const directory = (await me.call(`POST /${id}/dirs/create`, { name: "2026" })).body.id;
    const file = await me.file("plan.txt", "The plan.", { knowledge_id: id, directory_id: directory });
    expect((await me.call(`GET /${id}/files?directory_id=${directory}`)).body).toMatchObject({
      items: [{ id: file, filename: "plan.txt", status: "processed", directory_id: directory }],
      breadcrumbs: [{ id: directory, name: "2026" }],
      total: 1,
    });
    expect((await me.call(`GET /${id}/files`)).body).toMatchObject({
      items: [],
      directories: [{ id: directory, name: "2026", file_count: 1 }],
    });
    const refused = await upload(app, ["x.txt", "x"], {
      token: other.user.token,
      metadata: JSON.stringify({ knowledge_id: id }),
    });
    expect(refused.status).toBe(404);
  });

  it("that hold no text stay with the reason, and do not keep others waiting", async () => {
    const id = await me.make("Mixed");
    await me.file("empty.txt", "", { knowledge_id: id });
    await me.file("full.txt", "Full.", { knowledge_id: id });
    expect((await me.call(`GET /${id}/files/pending`)).body).toMatchObject({
      processing: 0,
      processed: 1,
      error: 1,
      files: [{ filename: "empty.txt", status: "error", error: "The file is empty." }],
    });
    const events = await me.call(`GET /${id}/files/pending?stream=true`);
    expect(events.text).toContain('data: {"processing":0,"processed":1,"error":1');
    expect((await me.call(`GET /${id}`)).body.status).toBe("error");
  });

  it("follow their names, and go with their file", async () => {
    const { id, files } = await me.filled("Names", ["old.txt", "gone.txt"]);
    await me.user.call(`POST /api/v1/files/${files[0]}/rename`, { filename: "new.txt" });
    await me.user.call(`DELETE /api/v1/files/${files[1]}`);
    expect(await me.names(id)).toEqual(["new.txt"]);
  });

  it("are searched over all collections that one may read", async () => {
    await me.filled("Here", ["Invoice 7.txt"]);
    expect((await me.call("GET /search/files?query=invoice")).body).toMatchObject({
      total: 1,
      items: [{ filename: "Invoice 7.txt", collection: { name: "Here" } }],
    });
    expect((await other.call("GET /search/files?query=invoice")).body.total).toBe(0);
  });

  it("stay when their collection goes, unless they are to go and lie nowhere else", async () => {
    const { id, files } = await me.filled("First", ["only.txt", "both.txt"]);
    const second = await me.make("Second");
    await me.call(`POST /${second}/file/add`, { file_id: files[1] });
    await me.call(`DELETE /${id}/delete?delete_files=true`);
    const status = async (file: string | undefined) =>
      (await me.user.call(`GET /api/v1/files/${file}`)).status;
    expect([await status(files[0]), await status(files[1])]).toEqual([404, 200]);
    expect((await me.call(`POST /${second}/reset`)).body.file_count).toBe(0);
    expect(await status(files[1])).toBe(200);
  });

  it("leave as texts in a zip, for administrators", async () => {
    const { id, files } = await me.filled("Export", ["a.txt", "a.txt"]);
    const directory = (await me.call(`POST /${id}/dirs/create`, { name: "x" })).body.id;
    await me.call(`POST /${id}/file/move`, { file_ids: [files[1]], directory_id: directory });
    const { token } = await app.admin();
    const sent = await fetch(`${app.url}/api/v1/knowledge/${id}/export`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const entries = unzipSync(new Uint8Array(await sent.arrayBuffer()));
    expect(Object.keys(entries).toSorted()).toEqual(["a.txt.txt", "x/a.txt.txt"]);
    expect(strFromU8(entries["a.txt.txt"] as Uint8Array)).toBe("The text of a.txt.");
  });
});

it("goes with its owner's account, and leaves no rows", async () => {
  const { id } = await me.filled("Left", ["a.txt"]);
  const admin = await app.admin();
  expect((await admin.call(`DELETE /api/v1/users/${me.user.id}`)).status).toBe(200);
  await expect
    .poll(async () => (await admin.call(`GET /api/v1/knowledge/${id}`)).status, { timeout: 5000 })
    .toBe(404);
});

it("refuses external sources with a text that says what there is", async () => {
  const admin = await app.admin();
  const answer = await admin.call("GET /api/v1/knowledge/external/connections");
  expect([answer.status, answer.body.detail]).toEqual([404, expect.stringContaining("KNOWLEDGE_WATCH")]);
  expect((await me.call("GET /external/connections")).status).toBe(403);
});
