import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

export interface DataSet {
  readonly documents: readonly { readonly id: string; readonly text: string }[];
  readonly questions: readonly DataQuestion[];
}

export interface DataQuestion {
  readonly text: string;
  /** How well each document answers it; the others do not. */
  readonly relevant: ReadonlyMap<string, number>;
}

/** Reads a folder in the shape of BEIR, or a file (or a folder with one) in the shape of SQuAD. */
export async function readDataSet(path: string): Promise<DataSet> {
  const isFolder = (await stat(path)).isDirectory();
  const names = isFolder ? await readdir(path) : [];
  if (names.includes("corpus.jsonl")) {
    return await readBeir(path);
  }
  const file = isFolder ? names.find((name) => name.endsWith(".json")) : "";
  if (file === undefined) {
    throw new Error(`${path} has neither corpus.jsonl (BEIR) nor a .json (SQuAD)`);
  }
  return readSquad(await readFile(join(path, file), "utf8"));
}

async function readBeir(folder: string): Promise<DataSet> {
  const read = async (name: string) =>
    (await readFile(join(folder, name), "utf8")).split("\n").filter(Boolean);
  const lines = async <T>(name: string) => (await read(name)).map((line) => JSON.parse(line) as T);
  const corpus = await lines<{ _id: string; title?: string; text: string }>("corpus.jsonl");
  const queries = await lines<{ _id: string; text: string }>("queries.jsonl");
  const relevant = new Map<string, Map<string, number>>();
  for (const line of (await read("qrels/test.tsv")).slice(1)) {
    const [query = "", document = "", score = "1"] = line.split("\t");
    relevant.set(query, (relevant.get(query) ?? new Map<string, number>()).set(document, Number(score)));
  }
  return {
    documents: corpus.map(({ _id: id, title = "", text }) => ({
      id,
      text: title ? `${title}\n\n${text}` : text,
    })),
    questions: queries.flatMap(({ _id: id, text }) => {
      const found = relevant.get(id);
      return found === undefined ? [] : [{ text, relevant: found }];
    }),
  };
}

interface Squad {
  readonly data: readonly {
    readonly title: string;
    readonly paragraphs: readonly {
      readonly context: string;
      readonly qas: readonly { readonly question: string; readonly is_impossible?: boolean }[];
    }[];
  }[];
}

/** Each paragraph is a document; it answers the questions that stand below it. */
function readSquad(text: string): DataSet {
  const paragraphs = (JSON.parse(text) as Squad).data.flatMap(({ title, paragraphs: all }) =>
    all.map((paragraph, index) => ({ ...paragraph, id: `${title}-${index}` })),
  );
  return {
    documents: paragraphs.map(({ id, context }) => ({ id, text: context })),
    questions: paragraphs.flatMap(({ id, qas }) =>
      qas
        .filter((question) => !question.is_impossible)
        .map(({ question }) => ({ text: question, relevant: new Map([[id, 1]]) })),
    ),
  };
}
