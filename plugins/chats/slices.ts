import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { ChatDatabase } from "./tables.ts";

/** Bytes that are copied in one transaction: what somebody else's write may have to wait for. */
export const sliceBytes = 64 * 1024;

/**
 * Runs steps one after another and rests between them for as long as the last one took: a large copy gets half of the
 * database's time at most.
 */
export async function inSlices<T>(steps: Iterable<T>, run: (step: T) => Promise<void>): Promise<void> {
  let took = 0;
  for (const step of steps) {
    if (took > 0) {
      await delay(Math.min(250, took));
    }
    const started = performance.now();
    await run(step);
    took = performance.now() - started;
  }
}

/** Groups of items with at most `sliceBytes` bytes; one alone may have more. */
export function* toSlices<T>(items: Iterable<T>, sizeOf: (item: T) => number): Generator<T[]> {
  let slice: T[] = [];
  let size = 0;
  for (const item of items) {
    const bytes = sizeOf(item);
    if (slice.length > 0 && size + bytes > sliceBytes) {
      yield slice;
      slice = [];
      size = 0;
    }
    slice.push(item);
    size += bytes;
  }
  if (slice.length > 0) {
    yield slice;
  }
}

/** The same messages, parents before their children: a slice must not name a message of a later one. */
export function parentsFirst<M extends { readonly id: string }>(
  messages: readonly M[],
  parentOf: (message: M) => string | null,
): M[] {
  const ids = new Set(messages.map(({ id }) => id));
  const children = Map.groupBy(messages, (message) => {
    const parent = parentOf(message);
    return parent !== null && ids.has(parent) ? parent : null;
  });
  const ordered = [...(children.get(null) ?? [])];
  for (let at = 0; at < ordered.length; at += 1) {
    for (const child of children.get((ordered[at] as M).id) ?? []) {
      ordered.push(child);
    }
  }
  return ordered;
}

/** Keys of `meta` of a chat that is not whole yet: as an internal one it stands in no list. */
export const unfinished = { internal: true, copying: true } as const;

/** Shows chats that are whole now. */
export async function showFinished(db: ChatDatabase, ids: readonly string[]): Promise<void> {
  await sql`update chat set meta = meta - 'internal' - 'copying' where id = any(${[...ids]}::text[])`.execute(
    db,
  );
}

/** Deletes chats whose copying did not come to its end before a time, because their process died. */
export async function deleteUnfinished(db: ChatDatabase, before: number): Promise<void> {
  await sql`delete from chat where is_internal and meta ? 'copying' and created_at < ${before}`.execute(db);
}
