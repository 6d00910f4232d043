import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { indexFile, indexText, waitUntilEmbedded } from "./client.fixture.ts";

let app: App;
let ann: TestUser;
let bob: TestUser;

const river = `# Rivers

The Wend rises in the hills above Harrow and reaches the sea after ninety miles.

## Floods

In the winter of 1912 the lower meadows stood under water for six weeks, and the ferry was moved to the church.

## Fish

Eels were caught with wicker traps below the weir until the sluice was rebuilt.`;

beforeAll(async () => {
  app = await useApp();
  await app.admin();
  ann = await app.user();
  bob = await app.user();
});
afterAll(() => app.close());

const ask = (user: TestUser, body: object, path = "/api/v1/retrieval/query/collection") =>
  user.call(`POST ${path}`, body);

describe("files", () => {
  it("are found by their words as soon as they are processed, with their place", async () => {
    const file = await indexFile(app, ann.token, ["rivers.md", river]);
    const answer = await ask(ann, { collection_names: [`file-${file}`], query: "how were eels caught?" });
    expect(answer.status).toBe(200);
    expect(answer.body.documents[0][0]).toContain("wicker traps");
    const [meta] = answer.body.metadatas[0];
    expect(meta).toMatchObject({ file_id: file, name: "rivers.md", headings: ["Rivers", "Fish"] });
    expect(river.slice(meta.start_index, meta.end_index)).toBe(answer.body.documents[0][0]);
  });

  it("show their passages to those who may read them", async () => {
    const file = await indexFile(app, ann.token, ["rivers.md", river]);
    await waitUntilEmbedded(app, [file]);
    const path = `GET /api/v1/retrieval/files/${file}/passages`;
    const { body } = await ann.call(path);
    expect(body).toMatchObject({ total: 3, embedded: 3, status: "ready", error: null });
    expect(body.items.map(({ headings }: { headings: string[] }) => headings)).toEqual([
      ["Rivers"],
      ["Rivers", "Floods"],
      ["Rivers", "Fish"],
    ]);
    const { start, end, content } = body.items[2];
    expect(river.slice(start, end)).toBe(content);
    expect((await ann.call(`${path}?page=2`)).body.items).toEqual([]);
    expect((await bob.call(path)).status).toBe(404);
  });

  it("say how many of their passages have a vector, in their record and by events to their owner", async () => {
    const socket = await connectPlain(app.url, { token: ann.token });
    await socket.sessionId();
    const stranger = await connectPlain(app.url, { token: bob.token });
    await stranger.sessionId();
    const file = await indexFile(app, ann.token, ["rivers.md", river]);
    const told = await socket.event(
      (_event, { data }) => data?.type === "file:progress" && data.data.status === "ready",
    );
    expect(told).toMatchObject({
      data: { data: { file_id: file, error: null, passages: { total: 3, embedded: 3 } } },
    });
    expect(stranger.events.filter(({ data }) => data.data?.type === "file:progress")).toEqual([]);
    const read = async (path: string) => (await ann.call(`GET /api/v1/files/${path}`)).body;
    expect((await read(file)).data).toMatchObject({
      status: "completed",
      passages: { total: 3, embedded: 3 },
    });
    const { items } = await read("?content=false");
    expect(items.find(({ id }: { id: string }) => id === file).data.passages).toEqual({
      total: 3,
      embedded: 3,
    });
    socket.close();
    stranger.close();
  });

  it("get vectors in the background and are found by what they mean", async () => {
    const file = await indexFile(app, ann.token, ["rivers.md", river]);
    await waitUntilEmbedded(app, [file]);
    const answer = await ask(ann, {
      collection_names: [`file-${file}`],
      query: "basket for catching fish",
      hybrid: false,
      k: 1,
    });
    expect(answer.body.documents[0][0]).toContain("wicker traps");
  });

  it("of others are answered as unknown ones are", async () => {
    const file = await indexFile(app, ann.token, ["rivers.md", river]);
    const foreign = await ask(bob, { collection_names: [`file-${file}`], query: "eels" });
    const unknown = await ask(bob, {
      collection_names: ["file-00000000-0000-4000-8000-000000000000"],
      query: "eels",
    });
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(unknown.body);
  });
});

describe("texts", () => {
  it("go into a collection of their owner that others cannot see or write", async () => {
    const made = await indexText(app, ann.token, {
      name: "note",
      content: "The heron nests by the mill pond.",
    });
    const found = await ask(ann, { collection_names: [made.collection_name], query: "heron" });
    expect(found.body.documents[0]).toEqual(["The heron nests by the mill pond."]);
    expect((await ask(bob, { collection_names: [made.collection_name], query: "heron" })).status).toBe(404);
    const written = await bob.call("POST /api/v1/retrieval/process/text?overwrite=true", {
      name: "mine",
      content: "Nothing nests here.",
      collection_name: made.collection_name,
    });
    expect(written.status).toBe(404);
    const after = await ask(ann, { collection_names: [made.collection_name], query: "heron" });
    expect(after.body).toEqual(found.body);
  });

  it.each(["x' or resource_id != ''", "a b", "", "../etc"])("refuse the name %j", async (name) => {
    const answer = await ask(ann, { collection_names: [name], query: "heron" });
    expect([400, 422]).toContain(answer.status);
  });

  it("answer below both places", async () => {
    const made = await indexText(app, ann.token, {
      name: "note",
      content: "The heron nests by the mill pond.",
    });
    const body = { collection_name: made.collection_name, query: "heron" };
    const one = await ask(ann, body, "/api/v1/retrieval/query/doc");
    const other = await ask(ann, body, "/retrieval/api/v1/query/doc");
    expect(one.status).toBe(200);
    expect(other.body).toEqual(one.body);
  });
});
