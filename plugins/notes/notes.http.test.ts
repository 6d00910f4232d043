import { afterAll, beforeAll, expect, it } from "vitest";
import { upload } from "#plugins/files/client.fixture.ts";
import { grant, permit, setVariables } from "#plugins/folders/folders.fixture.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type NoteClient, noteClient } from "./notes.fixture.ts";

let app: App;
let admin: TestUser;
let ann: NoteClient;
let ben: NoteClient;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
  ann = noteClient(await app.user());
  ben = noteClient(await app.user());
  await permit(app, [ann.user], { access_grants: { allow_users: true } });
});
afterAll(() => app?.close());

it("keeps a note in Markdown, and gives it as HTML and JSON", async () => {
  const md = "# Plan\n\n* [ ] dig\n* [x] **build**\n\n<b>tag</b> [x](javascript:alert(1))";
  const made = await ann.make("Mill", md, { meta: { color: "blue" } });
  expect(made).toMatchObject({
    user_id: ann.user.id,
    title: "Mill",
    meta: { color: "blue" },
    write_access: true,
    is_pinned: false,
    access_grants: [],
    user: { name: ann.user.name },
  });
  const shown = (await ann.call(`GET /${made.id}`)).body;
  expect(shown.data.content.md).toContain("* [x] **build**");
  expect(shown.data.content.html).toContain("<h1>Plan</h1>");
  expect(shown.data.content.html).toContain("&lt;b&gt;tag");
  expect(shown.data.content.html).not.toContain("href");
  expect(shown.data.content.json).toMatchObject({ type: "doc" });
  // Nanoseconds, as document 3 has them for notes.
  expect(String(shown.created_at)).toMatch(/^\d{19}$/);

  const changed = await ann.call(`POST /${made.id}/update`, {
    title: "Dam",
    data: { content: { md: "Water" } },
  });
  expect(changed.body).toMatchObject({ title: "Dam", data: { content: { md: "Water" } } });
  const late = { title: "Late", updated_at: 1 };
  expect((await ann.call(`POST /${made.id}/update`, late)).status).toBe(409);
  expect((await ann.call(`DELETE /${made.id}/delete`)).body).toBe(true);
  expect((await ann.call(`GET /${made.id}`)).status).toBe(404);
});

it("refuses texts that are too long or in another form, and says which field", async () => {
  const make = (content: unknown) => ann.call("POST /create", { title: "t", data: { content } });
  const long = await make({ md: "a".repeat(500_001) });
  expect([long.status, long.body.detail[0].loc.join(".")]).toEqual([422, "body.data.content.md"]);
  expect((await make({ md: "a".repeat(50_000_000) })).status).toBe(413);
  const other = await make({ html: "<p>x</p>" });
  expect([other.status, other.body.detail]).toEqual([400, expect.stringContaining("data.content.md")]);
  expect((await ann.call("POST /create", { title: "a".repeat(501) })).status).toBe(422);
});

it("lists, searches and pins for each person", async () => {
  const [one, two] = [
    await ann.make("Otters", "They swim below the willow"),
    await ann.make("Herons", "100% fish"),
  ];
  const shared = await ann.make("Shared", "willow", { access_grants: [grant(ben.user.id)] });
  expect((await ann.call("GET /")).body.map(({ id }: { id: string }) => id)).toEqual(
    expect.arrayContaining([one.id, two.id, shared.id]),
  );
  const search = async (client: NoteClient, query: string) =>
    (await client.call(`GET /search?${query}`)).body.items.map(({ title }: { title: string }) => title);
  expect(await search(ann, "query=willow%20swim")).toEqual(["Otters"]);
  expect(await search(ann, "query=100%25")).toEqual(["Herons"]);
  expect(await search(ben, "query=willow")).toEqual(["Shared"]);
  expect(await search(ben, "view_option=created")).toEqual([]);
  expect(await search(ben, "view_option=shared&permission=read_only")).toEqual(["Shared"]);
  // Administrators may read them all; that is no gift.
  expect(await search(noteClient(admin), "view_option=shared")).toEqual([]);
  expect(await search(ben, "permission=write")).toEqual([]);
  expect((await search(ann, "order_by=title&direction=asc")).slice(0, 2)).toEqual(["Herons", "Otters"]);
  expect((await ann.call("GET /search?order_by=user_id")).status).toBe(422);

  expect((await ben.call(`POST /${shared.id}/pin`)).body.is_pinned).toBe(true);
  const pinned = async (client: NoteClient) =>
    (await client.call("GET /pinned")).body.map(({ id }: { id: string }) => id);
  expect([await pinned(ben), await pinned(ann)]).toEqual([[shared.id], []]);
  expect((await ben.call(`POST /${shared.id}/pin`)).body.is_pinned).toBe(false);
  expect(await pinned(ben)).toEqual([]);
});

it("shares by grants: readers read, writers write, the owner deletes", async () => {
  const note = await ann.make("Grants", "one");
  expect((await ben.call(`GET /${note.id}`)).status).toBe(404);
  await ann.call(`POST /${note.id}/access/update`, { access_grants: [grant(ben.user.id)] });
  expect((await ben.call(`GET /${note.id}`)).body).toMatchObject({ write_access: false, access_grants: [] });
  expect((await ben.call(`POST /${note.id}/update`, { title: "mine" })).status).toBe(403);
  await ann.call(`POST /${note.id}/access/update`, { access_grants: [grant(ben.user.id, "write")] });
  expect((await ben.call(`POST /${note.id}/update`, { data: { content: { md: "two" } } })).status).toBe(200);
  expect(await ann.read(note.id)).toBe("two");
  expect((await ben.call(`DELETE /${note.id}/delete`)).status).toBe(403);
  // Everybody: only with the permission sharing.public_notes.
  const everybody = { access_grants: [grant("*")] };
  expect((await ann.call(`POST /${note.id}/access/update`, everybody)).body.access_grants).toEqual([]);
  await permit(app, [ann.user, ben.user], { sharing: { public_notes: true } });
  expect((await ann.call(`POST /${note.id}/access/update`, everybody)).body.access_grants).toHaveLength(1);
});

it("lends files of a note to its readers, and takes only the writer's own", async () => {
  const file = (await upload(app, ["plan.txt", "Secret plan"], { token: ann.user.token })).body;
  const foreign = (await upload(app, ["ben.txt", "Ben's"], { token: ben.user.token })).body;
  const theirs = { data: { files: [{ type: "file", id: foreign.id }] } };
  const note = await ann.make("Files", "", { access_grants: [grant(ben.user.id)] });
  expect((await ann.call(`POST /${note.id}/update`, theirs)).status).toBe(404);
  const read = (id: string, { user }: NoteClient) => user.call(`GET /api/v1/files/${id}/content`);
  expect((await read(file.id, ben)).status).toBe(404);
  const own = { data: { files: [{ type: "file", id: file.id, name: "plan.txt" }] } };
  expect((await ann.call(`POST /${note.id}/update`, own)).body.data.files).toMatchObject([{ id: file.id }]);
  expect((await read(file.id, ben)).status).toBe(200);
  await ann.call(`POST /${note.id}/update`, { data: { files: [] } });
  expect((await read(file.id, ben)).status).toBe(404);
});

it("keeps a history: versions, their difference, and the way back", async () => {
  const note = await ann.make("History", "one\n\ntwo");
  await ann.call(`POST /${note.id}/update`, { data: { content: { md: "one\n\nthree" } } });
  const [newest, first] = (await ann.call(`GET /${note.id}/history`)).body;
  expect([newest.chars, first.chars, first.user.name]).toEqual([10, 8, ann.user.name]);
  expect((await ann.call(`GET /${note.id}/history/${first.id}`)).body.content).toBe("one\n\ntwo");
  const diff = await ann.call(`GET /${note.id}/history/diff?from_id=${first.id}`);
  expect(diff.body.lines).toEqual([" one", " ", "-two", "+three"]);
  expect((await ann.call(`POST /${note.id}/history/${first.id}/restore`)).body.data.content.md).toBe(
    "one\n\ntwo",
  );
  expect((await ann.call(`GET /${note.id}/history`)).body).toHaveLength(3);
  // A version of another note is an unknown one.
  const other = await ann.make("Other", "x");
  for (const route of [
    `GET /${other.id}/history/${first.id}`,
    `POST /${other.id}/history/${first.id}/restore`,
    `GET /${other.id}/history/diff?from_id=${first.id}`,
  ]) {
    expect((await ann.call(route)).status).toBe(404);
  }
});

it("begins chats about a note, each person's own", async () => {
  const note = await ann.make("Chats", "x", { access_grants: [grant(ben.user.id)] });
  expect((await ann.call(`GET /${note.id}/chat`)).body).toBeNull();
  const begun = (await ann.call(`POST /${note.id}/chat`)).body;
  expect((await ann.call(`GET /${note.id}/chat`)).body).toMatchObject({ id: begun.id, note_id: note.id });
  expect((await ann.call(`GET /${note.id}/chats`)).body).toHaveLength(1);
  expect((await ben.call(`GET /${note.id}/chats`)).body).toEqual([]);
  const chat = await ann.user.call(`GET /api/v1/chats/${begun.id}`);
  expect(chat.body.chat.files).toMatchObject([{ type: "note", id: note.id }]);
  const listed = await ann.user.call("GET /api/v1/chats/");
  expect(listed.body.map(({ id }: { id: string }) => id)).not.toContain(begun.id);
});

it("answers 403 while notes are off, to administrators too, and without the permission", async () => {
  const note = await ann.make("Off", "x");
  await setVariables(app, { ENABLE_NOTES: false });
  for (const client of [noteClient(admin), ann]) {
    expect((await client.call("GET /")).status).toBe(403);
    expect((await client.call(`GET /${note.id}`)).status).toBe(403);
  }
  await setVariables(app, { ENABLE_NOTES: true });
  expect((await ann.call(`GET /${note.id}`)).status).toBe(200);
  const before = (await admin.call("GET /api/v1/users/default/permissions")).body;
  const set = (notes: boolean) =>
    admin.call("POST /api/v1/users/default/permissions", {
      ...before,
      features: { ...before.features, notes },
    });
  await set(false);
  expect((await ben.call("GET /")).status).toBe(403);
  await set(true);
  expect((await ben.call("GET /")).status).toBe(200);
});
