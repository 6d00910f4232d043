// `npm run eval:retrieval [-- folder …] [--questions 200]`: how well search finds, by words, by meaning and by both, on
// the corpus of the project and on any folder in the shape of BEIR or SQuAD. Settings come from the environment (RAG_…).
// The run fails where the default finds less than words alone.
import { parseArgs } from "node:util";
import { waitUntilEmbedded } from "#plugins/retrieval/client.fixture.ts";
import { type App, startApp } from "#test/support/app.ts";
import { type DataQuestion, type DataSet, readDataSet } from "./evaluation/data-sets.ts";
import { type Answered, measure, type Measures } from "./evaluation/measures.ts";
import { root } from "./tool.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { questions: { type: "string" } },
});
// oxlint-disable-next-line node/no-process-env -- the fixtures' own switch: no server is needed here
process.env["TEST_DATABASE"] ??= "embedded";
const limit = Number(values.questions ?? 600);
const folders = positionals.length > 0 ? positionals : [`${root}test/retrieval/corpus`];

/** Settings of a query for each method; the last is the default. */
const methods = [
  ["words", { hybrid: true, hybrid_bm25_weight: 1 }],
  ["vectors", { hybrid: false }],
  ["both", {}],
] as const;

let isWorse = false;
for (const folder of folders) {
  const set = await readDataSet(folder);
  const questions = sample(set.questions, limit);
  console.log(`\n${folder}: ${set.documents.length} documents, ${questions.length} questions`);
  const results = await evaluate(set, questions);
  console.table(results);
  isWorse ||= results["both"].hit5 < results["words"].hit5;
}
if (isWorse) {
  console.error("Both methods together found less than words alone.");
}
process.exit(isWorse ? 1 : 0);

async function evaluate(
  { documents }: DataSet,
  questions: readonly DataQuestion[],
): Promise<Record<(typeof methods)[number][0], Measures>> {
  // oxlint-disable-next-line node/no-process-env -- a script for people, whose settings are the environment's
  const given = Object.entries(process.env).filter(([name]) => /^(RAG_|CHUNK_|DATABASE_URL)/.test(name));
  const app = await startApp({ env: Object.fromEntries(given) as Record<string, string> });
  try {
    const { token } = await app.admin();
    const collection = await fill(app, token, documents);
    const results = methods.map(async ([name, settings]) => {
      const answers: Answered[] = [];
      for (const question of questions) {
        answers.push(await ask(app, question, { token, collection, settings }));
      }
      return [name, measure(answers)] as const;
    });
    return Object.fromEntries(await Promise.all(results)) as Record<(typeof methods)[number][0], Measures>;
  } finally {
    await app.close();
  }
}

/** Indexes all documents under their ids, and waits for the vectors. */
async function fill(app: App, token: string, documents: DataSet["documents"]): Promise<string> {
  const name = "evaluation";
  for (const { id, text } of documents) {
    const body = { name: id, content: text, collection_name: name };
    const answer = await app.call("POST /api/v1/retrieval/process/text", { token, body });
    if (answer.status !== 200) {
      throw new Error(`${id}: ${answer.text}`);
    }
  }
  const { rows } = await app.running.database.query("select item_id from retrieval_member");
  await waitUntilEmbedded(
    app,
    rows.map((row) => String(row["item_id"])),
    24 * 3600,
  );
  return name;
}

async function ask(
  app: App,
  question: DataQuestion,
  { token, collection, settings }: { token: string; collection: string; settings: object },
): Promise<Answered> {
  const body = { collection_names: [collection], query: question.text, ...settings };
  const from = performance.now();
  const five = await app.call("POST /api/v1/retrieval/query/collection", { token, body: { ...body, k: 5 } });
  const ms = performance.now() - from;
  const ten = await app.call("POST /api/v1/retrieval/query/collection", { token, body: { ...body, k: 20 } });
  const names = (answer: typeof five) =>
    (answer.body.metadatas[0] as { name: string }[]).map((metadata) => metadata.name);
  const texts = five.body.documents[0] as string[];
  return {
    question,
    found: [...new Set([...names(five), ...names(ten)])],
    promptChars: texts.reduce((sum, text) => sum + text.length, 0),
    ms,
  };
}

/** Evenly spread over the whole list, and the same at each run. */
function sample<T>(list: readonly T[], count: number): T[] {
  const step = Math.max(1, list.length / count);
  return Array.from(
    { length: Math.min(count, list.length) },
    (_, index) => list[Math.floor(index * step)] as T,
  );
}
