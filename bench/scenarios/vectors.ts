import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../storage/database.ts";
import { createVectorTable, openVectors, type VectorStore } from "../../storage/vectors.ts";
import type { Scenario } from "../scenario.ts";
import { createRandom, createVectors, median } from "../synthetic.ts";

const index = { id: 1, dimensions: 384 };
const batch = 1_000;
const questions = 60;
const wanted = 10;

/** The nearest of many vectors by the index against comparing each, in the embedded database. */
export const nearestVectors: Scenario = {
  id: "P17",
  title: "nearest of 100,000 vectors, embedded",
  async run(bench) {
    const count = bench.isQuick ? 4_000 : 100_000;
    const dataDir = await mkdtemp(join(tmpdir(), "bench-vectors-"));
    const database = await openDatabase({ dataDir, disposable: true });
    try {
      const next = createVectors(index.dimensions, createRandom(17));
      const store = await fill(database, count, next);
      const rounds = [];
      for (let round = 0; round < bench.rounds; round += 1) {
        rounds.push(await measure(store, next));
      }
      return [
        {
          goal: "P17",
          what: `time by the index, against comparing each of ${count}`,
          values: rounds.map(({ exact, indexed }) => indexed / exact),
          atMost: 1 / 15,
          unit: "×",
          detail: `${rounds[0]?.indexed.toFixed(1)} against ${rounds[0]?.exact.toFixed(1)} ms`,
        },
        {
          goal: "P17",
          what: `share of the ${wanted} nearest that the index finds`,
          values: rounds.map(({ recall }) => recall),
          atLeast: 0.97,
          unit: "",
        },
      ];
    } finally {
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

async function fill(database: Database, count: number, next: () => Float32Array): Promise<VectorStore> {
  await database.query("create table retrieval_passage (id bigint primary key, source_id bigint not null)");
  await database.query(
    `insert into retrieval_passage select n, n / 20 from generate_series(0, ${count - 1}) as n`,
  );
  await createVectorTable(database.db, "passage_vector");
  const store = await openVectors(database, "passage_vector");
  for (let at = 0; at < count; at += batch) {
    const vectors = Array.from({ length: batch }, (_, step) => ({
      passageId: at + step,
      sourceId: Math.floor((at + step) / 20),
      vector: next(),
    }));
    await store.add(index, vectors);
  }
  await database.query("analyze passage_vector");
  await store.prepare(index);
  return store;
}

async function measure(store: VectorStore, next: () => Float32Array) {
  const times = { exact: [] as number[], indexed: [] as number[] };
  let found = 0;
  for (let at = 0; at < questions; at += 1) {
    const vector = next();
    const ask = async (expected: number) => {
      const from = performance.now();
      const sources = sql`select distinct source_id from retrieval_passage`;
      const near = await store.nearest({ index, vector, limit: wanted, expected, sources });
      return { near: near.map(({ passageId }) => passageId), ms: performance.now() - from };
    };
    // The number of vectors that is expected decides which way is taken.
    const [exact, indexed] = [await ask(0), await ask(Number.MAX_SAFE_INTEGER)];
    times.exact.push(exact.ms);
    times.indexed.push(indexed.ms);
    found += indexed.near.filter((id) => exact.near.includes(id)).length;
  }
  return {
    exact: median(times.exact),
    indexed: median(times.indexed),
    recall: found / (questions * wanted),
  };
}
