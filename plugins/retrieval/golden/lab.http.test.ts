import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { indexFile, waitUntilEmbedded } from "../client.fixture.ts";

let app: App;
let admin: TestUser;
let member: TestUser;
let file: string;

const river = `# Rivers

The Wend rises in the hills above Harrow and reaches the sea after ninety miles.

## Floods

In the winter of 1912 the lower meadows stood under water for six weeks, and the ferry was moved to the church.

## Fish

Eels were caught with wicker traps below the weir until the sluice was rebuilt.`;
const question = "how were eels caught?";

beforeAll(async () => {
  app = await useApp({ env: { CHUNK_SIZE: "200", CHUNK_OVERLAP: "0", CHUNK_MIN_SIZE_TARGET: "0" } });
  admin = await app.admin();
  member = await app.user();
  file = await indexFile(app, admin.token, ["rivers.md", river]);
  await waitUntilEmbedded(app, [file]);
}, 120_000);
afterAll(() => app?.close());

const call = (route: string, body?: unknown, { token }: TestUser = admin) =>
  app.call(route, { token, ...(body !== undefined && { body }) });
const search = (body: object) =>
  call("POST /api/v1/retrieval/lab/search", { question, files: [file], ...body });
const path = "/api/v1/retrieval/lab";

describe("a search in the lab", () => {
  it("shows candidates of each method, their fusion, what was left out, times and the prompt", async () => {
    const { status, body } = await search({ settings: { top_k: 1, hybrid: true } });
    expect(status).toBe(200);
    expect(body.passages).toHaveLength(1);
    const [passage] = body.passages;
    expect(passage).toMatchObject({
      name: "rivers.md",
      file_id: file,
      content: expect.stringContaining("wicker traps"),
      scores: { keyword: expect.any(Number), vector: expect.any(Number) },
    });
    expect(river.slice(passage.start, passage.end)).toBe(passage.content);
    const { trace } = body;
    expect(trace.keyword[0].content).toContain("wicker traps");
    expect(trace.vector.length).toBeGreaterThan(1);
    expect(trace.fused[0].score).toBeGreaterThanOrEqual(trace.fused[1].score);
    expect(trace.cut).toContainEqual(expect.objectContaining({ reason: "beyond the number of passages" }));
    expect(trace.times).toMatchObject({ keyword: expect.any(Number), total: expect.any(Number) });
    expect(trace.times.total).toBeGreaterThan(0);
    expect(body.prompt).toHaveLength(1);
    expect(body.prompt[0]).toMatchObject({
      role: "user",
      content: expect.stringMatching(/<source id="1"[\s\S]*wicker traps[\s\S]*how were eels caught\?$/),
    });
  });

  it("takes settings of its own", async () => {
    const meaning = (await search({ settings: { hybrid: false } })).body;
    expect(meaning.trace.keyword).toEqual([]);
    const strict = (await search({ settings: { threshold: 1, top_k: 5 } })).body;
    expect(strict.passages).toHaveLength(1);
    expect(strict.trace.cut).toContainEqual(expect.objectContaining({ reason: "below the threshold" }));
    await call("POST /api/v1/configs/import", {
      config: { "rag.template": "Only this: {{CONTEXT}} / {{QUERY}}" },
    });
    expect((await search({})).body.prompt[0].content).toMatch(/^Only this: <source/);
    await call("POST /api/v1/configs/import", { config: { "rag.template": "" } });
  });

  it("is for keepers of collections, over what they may read, and needs something to search", async () => {
    expect((await call(`POST ${path}/search`, { question, files: [file] }, member)).status).toBe(403);
    expect((await search({ files: ["00000000-0000-4000-8000-000000000000"] })).status).toBe(404);
    expect((await search({ files: [] })).status).toBe(400);
    expect((await search({ question: " " })).status).toBe(422);
    expect((await search({ settings: { top_k: 0 } })).status).toBe(422);
  });
});

describe("the golden set", () => {
  it("is kept, run and compared with the run before", async () => {
    expect((await call(`POST ${path}/runs`, {})).status).toBe(400);
    const [passage] = (await search({ settings: { top_k: 1 } })).body.passages;
    const expected = [
      {
        source_id: passage.source_id,
        name: passage.name,
        start: passage.start,
        end: passage.end,
        excerpt: passage.content.slice(0, 400),
      },
    ];
    const kept = await call(`POST ${path}/questions`, { question, files: [file], expected });
    expect([kept.status, kept.body.expected]).toEqual([200, expected]);
    const lost = { ...expected[0], start: river.length + 10, end: river.length + 50 };
    const other = await call(`POST ${path}/questions`, {
      question: "where does it rise?",
      files: [file],
      expected: [lost],
    });
    const first = await call(`POST ${path}/runs`, { k: 3 });
    expect(first.body).toMatchObject({ k: 3, hits: 1, hit_rate: 0.5, changes: [] });
    expect(first.body.results).toMatchObject([
      { question_id: kept.body.id, rank: 1 },
      { question_id: other.body.id, rank: null },
    ]);
    const rise = river.indexOf("The Wend");
    const mended = { ...lost, start: rise, end: rise + 40 };
    const changed = await call(`POST ${path}/questions/${other.body.id}`, {
      question: "where does it rise?",
      files: [file],
      expected: [mended],
    });
    expect(changed.status).toBe(200);
    const second = await call(`POST ${path}/runs`, { k: 3, settings: { hybrid: true } });
    expect(second.body).toMatchObject({
      hits: 2,
      hit_rate: 1,
      settings: { hybrid: true },
      changes: [{ question_id: other.body.id, before: null, now: expect.any(Number) }],
    });
    const runs = (await call(`GET ${path}/runs`)).body;
    expect(runs.map(({ id }: { id: string }) => id)).toEqual([second.body.id, first.body.id]);
    expect((await call(`DELETE ${path}/questions/${other.body.id}`)).body).toBe(true);
    expect((await call(`GET ${path}/questions`)).body).toHaveLength(1);
  });

  it("says why a question could not be asked, and keeps to what may be read", async () => {
    const gone = await indexFile(app, admin.token, [
      "gone.md",
      "The heron nests by the mill pond, as it did before.",
    ]);
    const expected = [{ source_id: gone, name: "gone.md", start: 0, end: 20, excerpt: "The heron" }];
    const foreign = await call(`POST ${path}/questions`, { question: "x", files: ["nothing"], expected });
    expect(foreign.status).toBe(404);
    await call(`POST ${path}/questions`, { question: "where is the heron?", files: [gone], expected });
    await call(`DELETE /api/v1/files/${gone}`);
    const { results } = (await call(`POST ${path}/runs`, {})).body;
    expect(results.at(-1)).toMatchObject({ rank: null, error: expect.stringMatching(/\S/) });
  });
});
