import { toJson } from "#kernel/http/json.ts";
import { LongBody } from "#kernel/http/long-body.ts";
import { type Reply, reply } from "#kernel/http/route.ts";
import type { ListedFile, ListStore } from "./list-store.ts";
import { toRecord } from "./record.ts";
import type { FileRecord } from "./service.ts";

/** Most bytes of text that one list has in memory at a time, but for a single text that is longer. */
const mostTextBytes = 4 * 1024 * 1024;

/**
 * Answers records with their texts in the shape of a list. Long texts are read and sent some at a time: a page of them
 * is larger than what a process can hold.
 */
export async function answerWithTexts<T>(
  lists: Pick<ListStore, "texts">,
  rows: readonly ListedFile[],
  toShape: (records: FileRecord[]) => T,
): Promise<T | Reply> {
  const batches = toBatches(rows);
  if (batches.length <= 1) {
    return toShape(await withTexts(lists, rows));
  }
  // The list of records is the only one in the shape.
  const [before = "", after = ""] = toJson(toShape([])).split("[]");
  return reply(new LongBody(steps()), { headers: { "content-type": "application/json; charset=utf-8" } });

  async function* steps(): AsyncGenerator<string> {
    yield `${before}[`;
    for (const [at, batch] of batches.entries()) {
      const records = await withTexts(lists, batch);
      yield (at === 0 ? "" : ",") + records.map((record) => toJson(record)).join(",");
    }
    yield `]${after}`;
  }
}

async function withTexts(
  lists: Pick<ListStore, "texts">,
  rows: readonly ListedFile[],
): Promise<FileRecord[]> {
  const ids = rows.filter(({ text_size }) => text_size !== null).map(({ id }) => id);
  const texts = ids.length === 0 ? new Map<string, string>() : await lists.texts(ids);
  return rows.map((row) => toRecord({ ...row, content: texts.get(row.id) ?? null }));
}

function toBatches(rows: readonly ListedFile[]): ListedFile[][] {
  const batches: ListedFile[][] = [];
  let size = Infinity;
  for (const row of rows) {
    size += row.text_size ?? 0;
    if (size > mostTextBytes) {
      batches.push([]);
      size = row.text_size ?? 0;
    }
    batches.at(-1)?.push(row);
  }
  return batches;
}
