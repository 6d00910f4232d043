import { definePlugin } from "../../kernel/plugin.ts";
import { type Retrieval, retrieval } from "../../plugins/retrieval/service.ts";
import type { Database } from "../../storage/database.ts";
import { type App, startApp } from "../../test/support/app.ts";
import type { Scenario } from "../scenario.ts";
import { createRandom, createSentences, createVectors, median } from "../synthetic.ts";

/** As the built-in embedding model has them. */
const dimensions = 512;
const batch = 200;
const questions = 40;
const passagesOfSource = 100;

/** A question to one large collection in the embedded database, the question's embedding included. */
export const largeCollection: Scenario = {
  id: "P22",
  title: "a question over 100,000 passages, embedded",
  async run(bench) {
    const count = bench.isQuick ? 4_000 : 100_000;
    // oxlint-disable-next-line node/no-process-env -- the fixtures' own switch: no server is needed here
    process.env["TEST_DATABASE"] ??= "embedded";
    let service: Retrieval | undefined;
    const probe = definePlugin({
      id: "bench-retrieval",
      title: "Retrieval for the bench",
      uses: { retrieval },
      setup({ use }) {
        service = use.retrieval;
        return {};
      },
    });
    const app = await startApp({ plugins: [probe] });
    try {
      await fill(app, count);
      const rounds: number[] = [];
      for (let round = 0; round < bench.rounds; round += 1) {
        rounds.push(await measure(service as Retrieval, round));
      }
      return [
        {
          goal: "P22",
          what: `time of a question over ${count} passages, p50`,
          values: rounds,
          atMost: 60,
          unit: " ms",
        },
      ];
    } finally {
      await app.close();
    }
  },
};

async function measure(service: Retrieval, round: number): Promise<number> {
  const sentence = createSentences(createRandom(1_000 + round));
  const times: number[] = [];
  for (let at = 0; at < questions; at += 1) {
    const from = performance.now();
    await service.search({
      scope: { files: [], collections: ["bench"] },
      queries: [sentence(8)],
      signal: new AbortController().signal,
    });
    times.push(performance.now() - from);
  }
  // The first questions start the embedding model and warm the caches.
  return median(times.slice(5));
}

/** Writes rows as the plugin does, without cutting and embedding, which would take hours. */
async function fill({ running: { database } }: App, count: number): Promise<void> {
  const random = createRandom(22);
  const [sentence, vector] = [createSentences(random), createVectors(dimensions, random)];
  await database.query("insert into retrieval_collection (name) values ('bench')");
  await database.query(`insert into embedding_index (engine, model, content_prefix, dimensions, status, created_at)
    values ('', 'model-embeddings-en', '', null, 'serving', 0) on conflict do nothing`);
  await database.query(`update embedding_index set dimensions = ${dimensions}`);
  await database.query(
    `insert into retrieval_source (item_id, user_id, name, content, language, status, passages, embedded_in, created_at)
     select 'source-' || n, 'bench', 'source ' || n, '', 'english', 'live', ${passagesOfSource}, 1, 0
     from generate_series(1, $1::integer) as n`,
    [count / passagesOfSource],
  );
  await database.query("insert into retrieval_member select 'bench', item_id from retrieval_source");
  for (let at = 0; at < count; at += batch) {
    const rows = Array.from({ length: batch }, (_, step) => ({
      source: Math.floor((at + step) / passagesOfSource) + 1,
      position: (at + step) % passagesOfSource,
      content: sentence(150),
      vector: `[${vector().join(",")}]`,
    }));
    await addRows(database, rows);
  }
  await database.query(`insert into retrieval_term select 'bench', w, count(*)
    from retrieval_passage, unnest(tsvector_to_array(lexemes)) as w group by w`);
  await database.query(`update retrieval_collection set passages = t.n, length = t.length
    from (select count(*) as n, sum(length) as length from retrieval_passage) as t`);
  await database.query(
    `create index passage_vector_hnsw_1 on passage_vector using hnsw ((embedding::vector(${dimensions})) vector_cosine_ops) where index_id = 1`,
  );
  for (const table of ["retrieval_source", "retrieval_passage", "retrieval_member", "passage_vector"]) {
    await database.query(`vacuum analyze ${table}`);
  }
}

async function addRows(database: Database, rows: readonly object[]): Promise<void> {
  await database.query(
    `with given as (
       select * from json_to_recordset($1::json) as n (source integer, position integer, content text, vector text)
     ), added as (
       insert into retrieval_passage (source_id, position, content, start_at, end_at, lexemes, length)
       select source, position, content, 0, 0, to_tsvector('english', content), 150 from given
       returning id, source_id, position
     )
     insert into passage_vector (index_id, passage_id, source_id, embedding)
     select 1, a.id, a.source_id, g.vector::vector from added as a
     join given as g on g.source = a.source_id and g.position = a.position`,
    [JSON.stringify(rows)],
  );
}
