import { LongBody } from "#kernel/http/long-body.ts";
import { type Reply, reply } from "#kernel/http/route.ts";
import { type Reading, readNext } from "./store.ts";
import type { FeedbackDatabase } from "./tables.ts";

/** Answers rows to routes, which know no store. */
export type AnswerRows = (reading: Reading) => Reply;

/** Every row of a reading as one JSON array, written while it is read: a few are in memory at a time. */
export function answerRows(db: FeedbackDatabase, reading: Reading): Reply {
  return reply(new LongBody(pieces(db, reading)), {
    headers: { "content-type": "application/json; charset=utf-8" },
  });
}

async function* pieces(db: FeedbackDatabase, reading: Reading): AsyncGenerator<string> {
  yield "[";
  let last: { id: string; created_at: number } | undefined;
  for (
    let rows = await readNext(db, reading, last);
    rows.length > 0;
    rows = await readNext(db, reading, last)
  ) {
    const text = rows.map((row) => JSON.stringify(row)).join(",");
    yield last === undefined ? text : `,${text}`;
    last = rows.at(-1);
  }
  yield "]";
}
