import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ModelCall } from "#kernel/completion/model-call.ts";
import type { Events } from "#kernel/events.ts";
import type { SpeechCache } from "#kernel/upstream/speech-cache.ts";
import type { AudioSettings } from "../config.ts";
import type { SpeechEngine } from "../service.ts";
import { type OpenPiece, openPiece } from "./piece.ts";
import { type SplitOn, splitText } from "./split.ts";

export interface SpeechParts {
  readonly settings: AudioSettings;
  readonly cache: SpeechCache;
  readonly events: Pick<Events, "announce">;
  engines(): readonly SpeechEngine[];
  ended(call: ModelCall): void;
}

/** Members that are left out follow the settings. */
export interface SpeechRequest {
  readonly input: string;
  readonly model?: string | null | undefined;
  readonly voice?: string | null | undefined;
}

export type Speech = ReturnType<typeof createSpeech>;

/** Reads texts aloud with the chosen engine (contract §10). */
export function createSpeech(parts: SpeechParts) {
  const { settings } = parts;
  const current = () => parts.engines().find(({ id }) => id === settings.ttsEngine);

  /** Throws `not_found` while the browser is what speaks, and for engines that are not here; `unavailable` for one that lacks settings. */
  const requireEngine = (): SpeechEngine => {
    const engine = current();
    if (engine === undefined) {
      const ids = parts.engines().map(({ id }) => id);
      const why =
        settings.ttsEngine === ""
          ? "No engine for speech is set up: browsers speak with voices of their own."
          : `"${settings.ttsEngine}" is no engine for speech here.`;
      throw new AppError("not_found", `${why} AUDIO_TTS_ENGINE may be ${ids.join(", ")}.`);
    }
    const [missing] = engine.missing();
    if (missing !== undefined) {
      throw new AppError("unavailable", `${engine.title} needs ${missing}, which is not set.`);
    }
    return engine;
  };

  return {
    current,
    requireEngine,
    /** Sound as it comes, its first bytes here. Throws `invalid` for the text, and what engines throw. */
    async speak(caller: Principal, request: SpeechRequest, signal: AbortSignal): Promise<OpenPiece> {
      const engine = requireEngine();
      const texts = toPieces(request.input, engine, settings);
      const left = new AbortController();
      const wish = {
        model: request.model || settings.ttsModel,
        voice: request.voice || settings.ttsVoice,
        signal: AbortSignal.any([signal, left.signal]),
      };
      const { userId: id, name, email, role } = caller;
      parts.events.announce("audio.speech_requested", {
        actor: { id, name, email, role },
        subject: null,
        data: { engine: engine.id, model: wish.model, voice: wish.voice, characters: request.input.length },
      });
      const open = (at: number) => openPiece({ ...wish, text: texts[at]! }, { ...parts, engine, userId: id });
      const first = await open(0);
      return { type: first.type, bytes: follow(first, { count: texts.length, open, left }) };
    },
  };
}

interface Following {
  readonly count: number;
  open(at: number): Promise<OpenPiece>;
  /** Aborts what is asked for ahead when the listener leaves. */
  readonly left: AbortController;
}

/** All pieces in one stream. The engine speaks the next piece while this one is on its way. */
async function* follow(first: OpenPiece, { count, open, left }: Following): AsyncGenerator<Uint8Array> {
  let ahead: Promise<OpenPiece> | undefined;
  try {
    let current = first;
    for (let at = 0; at < count; at += 1) {
      ahead = at + 1 < count ? open(at + 1) : undefined;
      // Its failure is told when its turn comes.
      ahead?.catch(() => undefined);
      yield* current.bytes;
      if (ahead !== undefined) {
        current = await ahead;
        ahead = undefined;
      }
    }
  } finally {
    left.abort();
    void ahead?.then(({ bytes }) => bytes.return(undefined)).catch(() => undefined);
  }
}

/** Throws `invalid` for blank texts, and for those that are too long. */
function toPieces(input: string, engine: SpeechEngine, settings: AudioSettings): string[] {
  if (input.length > settings.ttsMaxCharacters) {
    throw new AppError(
      "invalid",
      `input: must be a text of at most ${settings.ttsMaxCharacters} characters.`,
    );
  }
  if (engine.isJoinable()) {
    const pieces = splitText(input, settings.ttsSplitOn as SplitOn, engine.maxCharacters);
    if (pieces.length === 0) {
      throw new AppError("invalid", "input: holds nothing to say.");
    }
    return pieces;
  }
  const text = input.trim();
  if (text === "" || text.length > engine.maxCharacters) {
    throw new AppError(
      "invalid",
      `input: must be a text of 1 to ${engine.maxCharacters} characters; ${engine.title} takes longer ones as MP3 alone.`,
    );
  }
  return [text];
}
