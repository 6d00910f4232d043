import { LongBody } from "#kernel/http/long-body.ts";
import { type Reply, reply } from "#kernel/http/route.ts";
import type { AuditFilter } from "./schema.ts";
import { readNext } from "./store.ts";
import type { AuditDatabase } from "./tables.ts";

/** Records as JSON Lines, written while they are read: a few are in memory at a time. */
export function answerExport(db: AuditDatabase, filter: AuditFilter): Reply {
  return reply(new LongBody(lines(db, filter)), {
    headers: {
      "content-type": "application/jsonl; charset=utf-8",
      "content-disposition": 'attachment; filename="audit.jsonl"',
    },
  });
}

async function* lines(db: AuditDatabase, filter: AuditFilter): AsyncGenerator<string> {
  let last = 0;
  for (
    let rows = await readNext(db, filter, last);
    rows.length > 0;
    rows = await readNext(db, filter, last)
  ) {
    yield rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    last = rows.at(-1)?.id ?? last;
  }
}
