import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "./database.ts";
import { describeKinds } from "./kinds.fixture.ts";
import { openTestDatabase } from "./testing.ts";
import { createVectorTable, openVectors, type VectorStore } from "./vectors.ts";

const index = { id: 1, dimensions: 16 };
const count = 400;

/** Numbers that repeat with each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296 - 0.5;
  };
}

function toUnit(next: () => number): Float32Array {
  const raw = Float32Array.from({ length: index.dimensions }, next);
  const length = Math.hypot(...raw);
  return raw.map((value) => value / length);
}

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

describeKinds("vectors", (kind) => {
  let database: Database;
  let store: VectorStore;
  const next = createRandom(7);
  const vectors = Array.from({ length: count }, () => toUnit(next));
  const question = toUnit(next);
  /** Passage n belongs to source n mod 10. */
  const best = (sources: readonly number[]) =>
    vectors
      .map((vector, at) => ({ passageId: at + 1, similarity: dot(vector, question) }))
      .filter(({ passageId }) => sources.includes(passageId % 10))
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, 5)
      .map(({ passageId }) => passageId);
  const nearest = async (sources: readonly number[], expected: number) =>
    (
      await store.nearest({
        index,
        vector: question,
        limit: 5,
        expected,
        sources: sql`select unnest(${[...sources]}::bigint[])`,
      })
    ).map(({ passageId }) => passageId);

  beforeAll(async () => {
    database = await openTestDatabase([], kind);
    await database.query(
      "create table retrieval_passage (id bigint primary key, source_id bigint not null); insert into retrieval_passage select n, n % 10 from generate_series(1, 400) as n",
    );
    await createVectorTable(database.db, "passage_vector");
    store = await openVectors(database, "passage_vector");
    await store.prepare(index);
    await store.add(
      index,
      vectors.map((vector, at) => ({ passageId: at + 1, sourceId: (at + 1) % 10, vector })),
    );
  });
  afterAll(() => database.close());

  it("are kept as the database can", () => {
    expect(store.kind).toBe(database.hasVector ? "pgvector" : "array");
  });

  it("are found nearest first, within the sources that are asked for", async () => {
    expect(await nearest([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], count)).toEqual(
      best([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    );
    expect(await nearest([3, 7], count)).toEqual(best([3, 7]));
    expect(await nearest([], count)).toEqual([]);
  });

  it("are found by the index where they are many, filters included", async () => {
    expect(await nearest([3, 7], 1_000_000)).toEqual(best([3, 7]));
    expect(await nearest([5], 1_000_000)).toEqual(best([5]));
  });

  it("tell the similarity of single passages", async () => {
    const [found] = await store.compare({ index, vector: question, passages: [17, 9_999] });
    expect(found).toMatchObject({ passageId: 17 });
    expect(found?.similarity).toBeCloseTo(dot(vectors[16] as Float32Array, question), 2);
  });

  it("with tiny numbers are compared", async () => {
    const tiny = Float32Array.from({ length: index.dimensions }, (_, at) => (at === 0 ? 1 : 1e-30));
    await store.add(index, [{ passageId: count, sourceId: 0, vector: tiny }]);
    const [found] = await store.compare({ index, vector: tiny, passages: [count] });
    expect(found?.similarity).toBeCloseTo(1, 2);
    await store.add(index, [{ passageId: count, sourceId: 0, vector: vectors[count - 1] as Float32Array }]);
  });

  it("of another size are refused", async () => {
    const wrong = { passageId: 1, sourceId: 1, vector: new Float32Array(3) };
    await expect(store.add(index, [wrong])).rejects.toThrow("3 numbers; the index has 16");
  });

  it("go with their passage, are not added for one that is gone, and go with their index", async () => {
    const left = async () =>
      Number((await database.query("select count(*)::integer as n from passage_vector")).rows[0]?.["n"]);
    await database.query("delete from retrieval_passage where id <= 10");
    expect(await left()).toBe(count - 10);
    await store.add(index, [{ passageId: 1, sourceId: 1, vector: vectors[0] as Float32Array }]);
    expect(await left()).toBe(count - 10);
    await store.drop(index.id);
    expect(await left()).toBe(0);
  });

  it("of a database that got the extension later become vectors", async () => {
    await sql`create table later (index_id integer, passage_id bigint, source_id bigint, embedding real[])`.execute(
      database.db,
    );
    await sql`insert into later values (1, 1, 1, '{0.6,0.8}')`.execute(database.db);
    expect((await openVectors(database, "later")).kind).toBe(store.kind);
    const { rows } = await database.query("select embedding::text as text from later");
    expect(rows[0]?.["text"]).toMatch(database.hasVector ? /^\[0\.6/ : /^\{0\.6/);
  });
});
