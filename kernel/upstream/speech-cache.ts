import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import type { RelayOptions } from "#kernel/http/route.ts";
import type { Logger } from "#kernel/log.ts";
import type { Blobs } from "#storage/blobs.ts";

/** Spoken texts, so that nobody pays for the same one twice. */
export interface SpeechCache {
  find(key: string): Promise<Readable | undefined>;
  /** Sees a speech on its way to the caller and keeps it when it came whole. */
  keeper(key: string): Required<Pick<RelayOptions, "tap" | "end">>;
  /** Removes what is older than two weeks. */
  sweep(): Promise<void>;
}

export interface SpeechCacheOptions {
  readonly blobs: Blobs;
  readonly log: Logger;
  /** Epoch milliseconds. */
  now?(): number;
}

const week = 7 * 86_400_000;

/** Bytes; longer speeches are not kept, because they wait in memory until they are whole. */
const largest = 16 * 1024 * 1024;

const folder = "speech";

/** The name of a speech: of the same text by the same upstream, with the same settings. */
export function toSpeechKey(...facts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/** Keeps speeches for one to two weeks: bytes know no age, so their week stands in their place. */
export function createSpeechCache({ blobs, log, now = Date.now }: SpeechCacheOptions): SpeechCache {
  const thisWeek = () => Math.floor(now() / week);
  const toPlace = (key: string, age = 0) => `${folder}/${thisWeek() - age}/${key}`;
  return {
    async find(key) {
      return (await blobs.read(toPlace(key))) ?? (await blobs.read(toPlace(key, 1)));
    },
    keeper(key) {
      const pieces: Buffer[] = [];
      let size = 0;
      return {
        tap(piece) {
          size += piece.length;
          if (size <= largest) {
            // Its memory is the relay's, which uses it again.
            pieces.push(Buffer.from(piece));
          } else {
            pieces.length = 0;
          }
        },
        end(error) {
          if (error === undefined && size > 0 && size <= largest) {
            blobs
              .write(toPlace(key), each(pieces))
              .catch((failure: unknown) => log.warn({ err: failure }, "a speech could not be kept"));
          }
        },
      };
    },
    async sweep() {
      for (const key of await blobs.keys(`${folder}/`)) {
        if (Number(key.split("/")[1]) < thisWeek() - 1) {
          await blobs.remove(key);
        }
      }
    },
  };
}

async function* each(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}
