import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as awareness from "y-protocols/awareness";
import * as Y from "yjs";
import { grant, permit } from "#plugins/folders/folders.fixture.ts";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { toEdit, openDocument } from "./live/document.ts";
import { type NoteClient, noteClient, openWriter } from "./notes.fixture.ts";

let app: App;
let ann: NoteClient;
let ben: NoteClient;
let eve: NoteClient;
const clients: PlainClient[] = [];

beforeAll(async () => {
  app = await useApp();
  ann = noteClient(await app.user());
  ben = noteClient(await app.user());
  eve = noteClient(await app.user());
  await permit(app, [ann.user], { access_grants: { allow_users: true, allow_groups: true } });
});
afterAll(async () => {
  clients.forEach((client) => client.close());
  await app?.close();
});

async function connect({ user }: NoteClient): Promise<PlainClient> {
  const client = await connectPlain(app.url, { token: user.token });
  clients.push(client);
  await client.emit("user-join", {});
  return client;
}

const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

const shareWith = (id: string, ...access_grants: object[]) =>
  ann.call(`POST /${id}/access/update`, { access_grants });

it("lets two people write one note at once, and keeps what both wrote", { timeout: 60_000 }, async () => {
  const note = await ann.make("Together", "start");
  await shareWith(note.id, grant(ben.user.id, "write"));
  const [one, two] = [
    await openWriter(await connect(ann), note.id),
    await openWriter(await connect(ben), note.id),
  ];
  const words = (name: string) => Array.from({ length: 50 }, (_, at) => `${name} ${at}`);
  const write = async (writer: typeof one, name: string) => {
    for (const word of words(name)) {
      expect(await writer.add(word)).toBe(true);
    }
  };
  await Promise.all([write(one, "ann"), write(two, "ben")]);
  await expect.poll(() => one.text().length, { timeout: 20_000 }).toBe(two.text().length);
  const lines = one.text().split("\n\n");
  expect(two.text()).toBe(one.text());
  expect(lines.toSorted()).toEqual(["start", ...words("ann"), ...words("ben")].toSorted());
  expect(await ben.read(note.id)).toBe(one.text());
  // The change over HTTP is one more edit: it reaches who has the note open.
  await ann.call(`POST /${note.id}/update`, { data: { content: { md: "Short" } } });
  await expect.poll(() => two.text(), { timeout: 20_000 }).toBe("Short");
  const heard = await two.client.event((event, data) => event === "events:note" && data.change === "content");
  expect(heard).toMatchObject({ id: note.id, title: "Together" });
});

it("takes an edit over HTTP that is larger than a frame, and only of those who may write", async () => {
  const note = await ann.make("Long", "start");
  await shareWith(note.id, grant(ben.user.id));
  const window = await openWriter(await connect(ann), note.id);
  const river = "河".repeat(400_000);
  const bytes = toEdit(openDocument([Y.encodeStateAsUpdate(window.document)]), `start\n\n${river}`);
  const update = toBase64(bytes);
  expect(bytes.length).toBeGreaterThan(1_000_000);
  expect((await ben.call(`POST /${note.id}/edits`, { update })).status).toBe(403);
  expect((await eve.call(`POST /${note.id}/edits`, { update })).status).toBe(404);
  expect(
    (await ann.call(`POST /${note.id}/edits`, { update: toBase64(new Uint8Array([1, 2, 3])) })).status,
  ).toBe(400);
  expect((await ann.call(`POST /${note.id}/edits`, { update })).body).toBe(true);
  await expect.poll(() => window.text().length, { timeout: 20_000 }).toBeGreaterThan(river.length);
  const again = await ann.call(`POST /${note.id}/edits`, {
    update: toBase64(toEdit(openDocument([]), river)),
  });
  expect(again).toMatchObject({
    status: 413,
    body: { detail: "This note is full. Continue in another one." },
  });
});

it("gives readers the text and takes no edits of theirs", async () => {
  const note = await ann.make("Read only", "mine");
  await shareWith(note.id, grant(ben.user.id));
  const reader = await connect(ben);
  const writer = await openWriter(reader, note.id);
  expect(writer.text()).toBe("mine");
  expect(await reader.emit("ydoc:document:join", { document_id: `note:${note.id}` })).toMatchObject({
    write_access: false,
  });
  expect(await writer.write("theirs")).toMatchObject({ code: "forbidden" });
  expect(await ann.read(note.id)).toBe("mine");
});

it("refuses notes of others, and every odd spelling of one's own", async () => {
  const note = await ann.make("Own", "mine");
  const [own, foreign] = [await connect(ann), await connect(eve)];
  const refused = { code: "not_found" };
  for (const event of [
    "ydoc:document:join",
    "ydoc:document:state",
    "ydoc:document:update",
    "ydoc:awareness:update",
  ]) {
    const update = [...toEdit(openDocument([]), "evil")];
    expect(await foreign.emit(event, { document_id: `note:${note.id}`, update })).toMatchObject(refused);
  }
  expect(await foreign.emit("join-note", { note_id: note.id })).toMatchObject(refused);
  expect(await own.emit("join-note", { note_id: note.id })).toBe(true);
  const spellings = [
    `note_${note.id}`,
    `NOTE:${note.id}`,
    `note:${note.id}%00`,
    `note:${note.id}\u0000`,
    `note:${note.id.toUpperCase()}`,
    ` note:${note.id}`,
    `note:${note.id} `,
    `note:note:${note.id}`,
    note.id,
    "note:",
    "note:*",
  ];
  for (const spelling of spellings) {
    expect(await own.emit("ydoc:document:join", { document_id: spelling })).toMatchObject(refused);
  }
  expect(await own.emit("join-note", { note_id: `${note.id}%00` })).toMatchObject(refused);
  expect(foreign.events.filter(({ event }) => event.startsWith("ydoc"))).toEqual([]);
  // Without signing in nothing can be emitted at all (promise S43).
  const stranger = await connectPlain(app.url);
  stranger.send({ type: "emit", event: "ydoc:awareness:update", id: 1, data: {} });
  expect((await stranger.closed).code).toBe(4001);
});

it(
  "takes people out at once when access goes: grants, groups, and the note itself",
  { timeout: 60_000 },
  async () => {
    const note = await ann.make("Revoked", "mine");
    const admin = await app.admin();
    const group = await permit(app, [ben.user], {});
    const writers = [grant(group, "write", "group"), grant(eve.user.id, "write")];
    const boss = noteClient(await app.admin());
    const share = (...access_grants: object[]) =>
      boss.call(`POST /${note.id}/access/update`, { access_grants });
    await share(...writers);
    const [mine, theirs, hers] = await Promise.all(
      [ann, ben, eve].map(async (client) => await openWriter(await connect(client), note.id)),
    );
    const closed = (client: PlainClient) =>
      client.event(
        (event, data) => event === "ydoc:document:closed" && data.document_id === `note:${note.id}`,
      );
    await share(writers[0]!);
    await closed(hers!.client);
    expect(await hers!.write("evil")).toMatchObject({ code: "not_found" });
    await admin.call(`POST /api/v1/groups/id/${group}/users/remove`, { user_ids: [ben.user.id] });
    await closed(theirs!.client);
    await mine!.write("secret");
    await pause(200);
    for (const { client } of [theirs!, hers!]) {
      expect(client.events.filter(({ event }) => event === "ydoc:document:update")).toEqual([]);
    }
    await ann.call(`DELETE /${note.id}/delete`);
    await closed(mine!.client);
  },
);

it("shows who is there under their own name, and bounds floods", async () => {
  const note = await ann.make("Awareness", "x");
  await shareWith(note.id, grant(ben.user.id));
  const [one, two] = [await connect(ann), await connect(ben)];
  const document_id = `note:${note.id}`;
  await Promise.all([one, two].map((client) => client.emit("ydoc:document:join", { document_id })));
  const joined = await one.event((event) => event === "ydoc:user:joined");
  expect(joined).toMatchObject({ user_id: ben.user.id, user_name: ben.user.name });
  const presence = new awareness.Awareness(new Y.Doc());
  presence.setLocalState({ user: { name: ann.user.name, id: ann.user.id, color: "red" }, cursor: null });
  const update = [...awareness.encodeAwarenessUpdate(presence, [presence.clientID])];
  expect(await two.emit("ydoc:awareness:update", { document_id, update })).toBe(true);
  const seen = await one.event((event) => event === "ydoc:awareness:update");
  const other = new awareness.Awareness(new Y.Doc());
  awareness.applyAwarenessUpdate(other, new Uint8Array(seen.update), "server");
  expect(other.getStates().get(presence.clientID)).toMatchObject({
    user: { id: ben.user.id, name: ben.user.name, color: "red" },
  });
  // Nobody speaks for another client.
  const stolen = new awareness.Awareness(new Y.Doc());
  const foreign = [...awareness.encodeAwarenessUpdate(stolen, [stolen.clientID])];
  expect(await two.emit("ydoc:awareness:update", { document_id, update: foreign })).toMatchObject({
    code: "forbidden",
  });
  const garbage = await two.emit("ydoc:awareness:update", { document_id, update: [255, 255, 255] });
  expect(garbage).toMatchObject({ code: "invalid" });
  const large = await two.emit("ydoc:awareness:update", { document_id, update: Array(4_001).fill(1) });
  expect(large.code).toBe("unprocessable");
  const flood = await Promise.all(
    Array.from({ length: 300 }, () => two.emit("ydoc:awareness:update", { document_id, update })),
  );
  expect(flood.some((answer) => answer?.code === "rate_limited")).toBe(true);
  two.close();
  expect(await one.event((event) => event === "ydoc:user:left")).toMatchObject({ user_id: ben.user.id });
  presence.destroy();
  other.destroy();
  stolen.destroy();
});

it("refuses bytes that are no update, and a note that grows without end", { timeout: 120_000 }, async () => {
  const note = await ann.make("Bounds", "x");
  const writer = await openWriter(await connect(ann), note.id);
  const document_id = `note:${note.id}`;
  const send = (update: unknown) => writer.client.emit("ydoc:document:update", { document_id, update });
  expect(await send([1, 2, 3])).toMatchObject({ code: "invalid" });
  expect(await send([1, 2, 300])).toMatchObject({ code: "unprocessable" });
  expect(await send("not base64!")).toMatchObject({ code: "unprocessable" });
  let answer: unknown = true;
  let taken = 0;
  for (let at = 0; at < 10 && answer === true; at += 1) {
    answer = await writer.add("a".repeat(450_000));
    taken += answer === true ? 1 : 0;
  }
  expect([taken, answer]).toEqual([4, expect.objectContaining({ code: "too_large" })]);
  expect((await ann.read(note.id)).length).toBeGreaterThan(1_800_000);
});
