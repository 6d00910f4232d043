import type { ModelCall } from "#kernel/completion/model-call.ts";
import { AppError } from "#kernel/errors.ts";
import { type SpeechCache, toSpeechKey } from "#kernel/upstream/speech-cache.ts";
import { beginAudioCall } from "../meter.ts";
import type { SpeechEngine, SpeechWish } from "../service.ts";
import { toSoundType } from "./format.ts";

export interface PieceParts {
  readonly engine: SpeechEngine;
  readonly cache: SpeechCache;
  readonly userId: string;
  ended(call: ModelCall): void;
}

/** The sound of one piece of a text, its first bytes already here. */
export interface OpenPiece {
  readonly type: string;
  /** Read once; leaving early closes the engine's connection. */
  readonly bytes: AsyncGenerator<Uint8Array>;
}

/** Takes a piece from the cache, or has it spoken. Throws as engines do, before the first byte is handed on. */
export async function openPiece(wish: SpeechWish, parts: PieceParts): Promise<OpenPiece> {
  const { engine, cache } = parts;
  const key = toSpeechKey(engine.id, JSON.stringify(engine.facts()), wish.model, wish.voice, wish.text);
  const kept = await cache.find(key);
  if (kept !== undefined) {
    return await begin(kept, "");
  }
  const call = beginAudioCall(
    {
      userId: parts.userId,
      engine,
      model: wish.model,
      asked: wish.text,
      task: undefined,
      signal: wish.signal,
    },
    parts.ended,
  );
  const measured = { usage: undefined, characters: 0, tools: [] };
  try {
    const sound = await engine.speak(wish);
    const piece = await begin(sound.bytes, sound.type);
    call.arrived();
    const keeper = cache.keeper(key);
    const watched = watch(piece.bytes, {
      tap: keeper.tap,
      // A cached piece has no word of the engine about its type, so what only that word tells is not kept.
      end(error) {
        void keeper.end(error ?? (/^audio\/(pcm|l16|basic|x?-?raw)/i.test(piece.type) ? notKept : undefined));
        if (error === undefined) {
          call.complete(measured);
        } else {
          call.break(error, measured);
        }
      },
    });
    return { type: piece.type, bytes: watched };
  } catch (error) {
    call.break(error);
    throw error;
  }
}

const notKept = new Error("not kept");

/** Waits for the bytes that tell the format; refuses what is none. */
async function begin(bytes: AsyncIterable<Uint8Array>, said: string): Promise<OpenPiece> {
  const source = bytes[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let size = 0;
  while (size < 16) {
    const { value, done } = await source.next();
    if (done === true) {
      break;
    }
    head.push(value);
    size += value.length;
  }
  if (size === 0) {
    throw new AppError("upstream", "The speech engine answered without a sound.");
  }
  try {
    return { type: toSoundType(Buffer.concat(head), said), bytes: resume(head, source) };
  } catch (error) {
    await source.return?.();
    throw error;
  }
}

async function* resume(
  head: readonly Uint8Array[],
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* head;
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      yield next.value;
    }
  } finally {
    await source.return?.();
  }
}

interface Watcher {
  tap(piece: Buffer): void;
  /** Called once: with an error when the sound broke off or its listener left. */
  end(error?: Error): void;
}

async function* watch(bytes: AsyncGenerator<Uint8Array>, { tap, end }: Watcher): AsyncGenerator<Uint8Array> {
  let error: Error | undefined = new Error("the listener left");
  try {
    for await (const piece of bytes) {
      tap(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
      yield piece;
    }
    error = undefined;
  } catch (failure) {
    error = failure as Error;
    throw failure;
  } finally {
    end(error);
  }
}
