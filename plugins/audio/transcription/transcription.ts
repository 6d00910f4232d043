import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { ModelCall, OpenCall } from "#kernel/completion/model-call.ts";
import { AppError } from "#kernel/errors.ts";
import { createFairQueue } from "#kernel/fair-queue.ts";
import type { AudioSettings } from "../config.ts";
import { beginAudioCall } from "../meter.ts";
import type { TranscriptionEngine } from "../service.ts";
import { requireAccepted } from "./accept.ts";
import type { Decoder } from "./decoder.ts";
import { type Piece, toPieces } from "./pieces.ts";
import { type StoredRecording, storeRecording } from "./stored-recording.ts";

export interface TranscriberParts {
  readonly settings: AudioSettings;
  readonly decoder: Decoder;
  engines(): readonly TranscriptionEngine[];
  ended(call: ModelCall): void;
}

export interface TranscriptionCall {
  readonly filename: string;
  readonly contentType: string;
  /** ISO 639-1 code or a locale. */
  readonly language?: string | undefined;
  /** The person whose usage it is; undefined for recordings of nobody. */
  readonly userId: string | undefined;
  readonly signal: AbortSignal;
}

export type Transcriber = ReturnType<typeof createTranscriber>;

const megabyte = 1024 * 1024;
/** Pieces of one recording that an engine hears at the same time. */
const sideBySide = 3;

/** Writes recordings down with the chosen engine (contract §10). */
export function createTranscriber(parts: TranscriberParts) {
  const { settings } = parts;
  const inTurn = createFairQueue(() => settings.sttConcurrent);
  const current = () => parts.engines().find(({ id }) => id === settings.sttEngine);

  /** Throws `unavailable` without an engine: what the old default stood for is not built in, and is told (contract D.37). */
  const requireEngine = (): TranscriptionEngine => {
    const engine = current();
    if (engine === undefined) {
      const ids = parts.engines().map(({ id }) => id);
      throw new AppError(
        "unavailable",
        `${toReason(settings.sttEngine)} AUDIO_STT_ENGINE may be ${ids.join(", ")}.`,
      );
    }
    const [missing] = engine.missing();
    if (missing !== undefined) {
      throw new AppError("unavailable", `${engine.title} needs ${missing}, which is not set.`);
    }
    return engine;
  };

  /** One piece by the engine; a passing failure is tried once more, so that it does not cost the pieces before it. */
  const transcribePiece = async (piece: Piece, { engine, call }: Hearing): Promise<string> => {
    const recording = await piece();
    const ask = async () => {
      const measured = begin(engine, call, parts);
      try {
        const text = await engine.transcribe({
          recording,
          model: settings.sttModel,
          language: toLanguage(call.language) ?? toLanguage(settings.sttLanguage),
          signal: call.signal,
        });
        measured?.complete({ usage: undefined, characters: text.length, tools: [] });
        return text;
      } catch (error) {
        measured?.break(error);
        throw error;
      }
    };
    return await ask().catch(async (error: unknown) => {
      if (!call.isLong || !isPassing(error)) {
        throw error;
      }
      await setTimeout(toPause(error), undefined, { signal: call.signal });
      return await ask();
    });
  };

  const transcribeStored = async (stored: StoredRecording, given: TranscriptionCall): Promise<string> => {
    const engine = requireEngine();
    const accepted = requireAccepted(stored.head, given, settings);
    toLanguage(given.language);
    // One piece that fails stops the others.
    const failed = new AbortController();
    const signal = AbortSignal.any([given.signal, failed.signal]);
    const pieces = await toPieces(stored, accepted, {
      decoder: parts.decoder,
      limits: engine.limits(settings.sttModel),
      title: engine.title,
      maxMinutes: settings.sttMaxMinutes,
      person: given.userId ?? "",
      signal,
    });
    const hearing = { engine, call: { ...given, signal, isLong: pieces.length > 1 } };
    try {
      const texts = await inTurns(pieces, sideBySide, (piece) =>
        inTurn(given.userId ?? "", () => transcribePiece(piece, hearing), signal),
      );
      return texts.filter((text) => text !== "").join("\n");
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };

  return {
    current,
    requireEngine,
    isReady: () => current()?.missing().length === 0,
    maxBytes: () => settings.sttMaxSize * megabyte,
    /** Throws `too_large` and `invalid`. Whoever gets it removes it. */
    store: (stream: Readable, signal: AbortSignal) =>
      storeRecording(stream, { maxBytes: settings.sttMaxSize * megabyte, signal }),
    /**
     * Throws `invalid` for bytes that are no sound, for types that are not taken and for a language that is none,
     * `too_large` over the limits, `unavailable` without an engine, and what engines throw.
     */
    transcribe: transcribeStored,
  };
}

/** Opens a measured call; none for recordings of nobody. */
function begin(
  engine: TranscriptionEngine,
  { userId, signal }: TranscriptionCall,
  { settings, ended }: TranscriberParts,
): OpenCall | undefined {
  const facts = { engine, model: settings.sttModel, asked: "", task: undefined, signal };
  return userId === undefined ? undefined : beginAudioCall({ ...facts, userId }, ended);
}

interface Hearing {
  readonly engine: TranscriptionEngine;
  readonly call: TranscriptionCall & { readonly isLong: boolean };
}

/** All results in the order of the items, `count` of which are at work at the same time. */
async function inTurns<T, R>(
  items: readonly T[],
  count: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next; at < items.length; at = next) {
      next += 1;
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, worker));
  return results;
}

/** Throws `invalid` for what is no language; engines would take it as a word of a prompt or refuse it in their way. */
function toLanguage(given: string | undefined): string | undefined {
  const language = given?.trim() ?? "";
  if (language !== "" && !/^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(language)) {
    throw new AppError("invalid", "language: must be a code such as de, or a locale such as de-CH.");
  }
  return language || undefined;
}

function isPassing(error: unknown): error is AppError {
  return error instanceof AppError && ["upstream", "timeout", "rate_limited"].includes(error.code);
}

/** Milliseconds before the second try: as the engine asks, at most half a minute. */
function toPause({ retryAfter = 1 }: AppError): number {
  return Math.min(retryAfter, 30) * 1000;
}

function toReason(chosen: string): string {
  if (chosen === "web") {
    return "Browsers write down what is said by themselves here, so this server has no engine for recordings.";
  }
  return chosen === ""
    ? "No engine for transcription is set up. A local Whisper is not built in: run an OpenAI-shaped Whisper server and name its address in AUDIO_STT_OPENAI_API_BASE_URL."
    : `"${chosen}" is no engine for transcription here.`;
}
