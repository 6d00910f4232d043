import { createMessageCache } from "./message-cache.ts";
import { type MessageText, readRows } from "./message-rows.ts";
import type { ChatDatabase } from "../tables.ts";

/** A message that is to be read. */
export interface Readable {
  readonly id: string;
  /** The state its row is in (`rowVersion`). */
  readonly version: string | null;
  /** About how many bytes it takes (`rowSize`). */
  readonly size: number;
}

/** Bytes of messages that are read, composed and written at a time. */
const maxRead = 1024 * 1024;

/** As much as a very long chat: whoever is in it reads it again soon. */
const kept = createMessageCache({ most: 128 * 1024 * 1024, idleMs: 5 * 60_000 });

/**
 * Reads messages of a chat in steps, in their order: while one is worked on the next one is read. Messages that are gone
 * are missing. What is more than one step is kept for the next reader.
 */
export async function* readTexts<M extends Readable>(
  db: ChatDatabase,
  chatId: string,
  messages: readonly M[],
): AsyncGenerator<[message: M, text: MessageText][]> {
  const batches = toBatches(messages);
  const isLong = batches.length > 1;
  const read = async (batch: readonly M[]): Promise<ReadonlyMap<string, MessageText>> => {
    const known = new Map<string, MessageText>();
    const missing: string[] = [];
    for (const message of batch) {
      const text = isLong ? kept.find(chatId, message) : undefined;
      if (text === undefined) {
        missing.push(message.id);
      } else {
        known.set(message.id, text);
      }
    }
    const stored: ReadonlyMap<string, MessageText> =
      missing.length === 0 ? new Map() : await readRows(db, chatId, missing);
    if (isLong) {
      kept.add(chatId, stored);
    }
    return known.size === 0 ? stored : new Map([...known, ...stored]);
  };
  let next: Promise<ReadonlyMap<string, MessageText>> | undefined;
  for (const [at, batch] of batches.entries()) {
    const texts = await (next ?? read(batch));
    const following = batches[at + 1];
    next = following && read(following);
    // A reader that stops leaves this read behind.
    next?.catch(() => {});
    yield batch.flatMap((message): [M, MessageText][] => {
      const text = texts.get(message.id);
      return text === undefined ? [] : [[message, text]];
    });
  }
}

function toBatches<M extends Readable>(messages: readonly M[]): M[][] {
  const batches: M[][] = [];
  let size = 0;
  for (const message of messages) {
    const batch = batches.at(-1);
    if (batch === undefined || size + message.size > maxRead || batch.length >= 1000) {
      batches.push([message]);
      size = message.size;
    } else {
      batch.push(message);
      size += message.size;
    }
  }
  return batches;
}
