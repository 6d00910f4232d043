import { language } from "#plugins/web/kit/i18n/index.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { settings } from "#plugins/web/kit/stores/settings.svelte.ts";
import type { ShownReply } from "#plugins/web/kit/talked-chat.ts";
import { createBrowserVoice } from "./browser-voice.ts";
import { createEngineVoice } from "./engine-voice.ts";
import { SentenceReader, type SplitOn } from "./sentences.ts";
import type { Utterance, Voice } from "./voice.ts";

/** Pieces whose sound is made while another one is heard. */
const aheadMost = 2;

export type ReadEnding =
  | { readonly is: "ended" | "stopped" }
  | { readonly is: "failed"; readonly error: Error };

interface Piece {
  readonly text: string;
  sound: Utterance | undefined;
}

/** True where the instance has an engine and the person did not choose the browser. */
export const usesEngine = (): boolean =>
  (session.config?.audio?.tts.engine ?? "") !== "" && settings.get("speechEngine") !== "browser";

/** Reads one reply at a time aloud, piece by piece while it is written. */
class ReplyReader {
  /** Id of the reply that is read. */
  currentId = $state<string>();
  phase = $state<"loading" | "speaking" | "paused">("loading");
  /** The piece that is heard now. */
  piece = $state("");
  #voice: Voice | undefined;
  #end: ((ending: ReadEnding) => void) | undefined;

  /** Begins at once and ends another reply; resolves when the last piece was heard. Never rejects. */
  read(reply: ShownReply): Promise<ReadEnding> {
    this.stop();
    const options = {
      rate: settings.get("speechRate"),
      voice: settings.get(usesEngine() ? "speechVoice" : "speechBrowserVoice"),
    };
    const voice = usesEngine() ? createEngineVoice(options) : createBrowserVoice(options);
    this.#voice = voice;
    this.currentId = reply.id;
    this.phase = "loading";
    this.piece = "";
    return new Promise((resolve) => {
      const pieces = new PieceQueue(voice, reply);
      const end = (ending: ReadEnding) => {
        if (this.#end === end) {
          this.#end = undefined;
          this.#voice = undefined;
          this.currentId = undefined;
          pieces.close();
          voice.stop();
          resolve(ending);
        }
      };
      this.#end = end;
      void this.#play(pieces, () => this.#end === end).then(end);
    });
  }

  pause(): void {
    this.#voice?.pause();
    this.phase = "paused";
  }

  resume(): void {
    this.#voice?.resume();
    this.phase = "speaking";
  }

  stop(): void {
    this.#end?.({ is: "stopped" });
  }

  setRate(rate: number): void {
    this.#voice?.setRate(rate);
    void settings.set("speechRate", rate);
  }

  async #play(pieces: PieceQueue, isCurrent: () => boolean): Promise<ReadEnding> {
    try {
      for (let piece = await pieces.next(); piece && isCurrent(); piece = await pieces.next()) {
        this.piece = piece.text;
        this.phase = this.phase === "paused" ? "paused" : "speaking";
        await piece.sound?.play();
      }
      return { is: "ended" };
    } catch (error) {
      return { is: "failed", error: error as Error };
    }
  }
}

/** Pieces of a reply that grows; the sound of the next ones is made ahead. */
class PieceQueue {
  readonly #voice: Voice;
  readonly #waiting: Piece[] = [];
  #isComplete = false;
  #wake: (() => void) | undefined;
  readonly #unfollow: () => void;

  constructor(voice: Voice, reply: ShownReply) {
    this.#voice = voice;
    const splitOn = (session.config?.audio?.tts.split_on || "punctuation") as SplitOn;
    const sentences = new SentenceReader(splitOn, language.locale);
    this.#unfollow = $effect.root(() => {
      $effect(() => {
        this.#isComplete = !reply.isWriting;
        const texts = sentences.read(reply.text, this.#isComplete);
        this.#waiting.push(...texts.map((text) => ({ text, sound: undefined })));
        this.#prepare();
        this.#wake?.();
      });
    });
  }

  /** Waits for the next piece; undefined after the last one. */
  async next(): Promise<Piece | undefined> {
    while (this.#waiting.length === 0 && !this.#isComplete) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const piece = this.#waiting.shift();
    if (piece) {
      piece.sound ??= this.#voice.prepare(piece.text);
      this.#prepare();
    }
    return piece;
  }

  close(): void {
    this.#unfollow();
    this.#isComplete = true;
    this.#waiting.length = 0;
    this.#wake?.();
  }

  #prepare(): void {
    this.#waiting.slice(0, aheadMost).forEach((piece) => (piece.sound ??= this.#voice.prepare(piece.text)));
  }
}

export const reader = new ReplyReader();
