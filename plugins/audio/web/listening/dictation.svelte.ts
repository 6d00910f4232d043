import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { type Microphone, openMicrophone } from "./microphone.ts";
import { chosenListener, noListener, recognize } from "./recognition.ts";
import { type Recording, record, transcribe } from "./recording.ts";

/** Longer dictations are ended and written down; recordings of any length can be attached as files. */
const mostSeconds = 600;
const shownLevels = 40;
const tickMs = 80;

/** The place that dictated words go to. */
export interface DictationTarget {
  ontext(text: string): void;
}

/** Writes down what a person says, one dictation at a time. */
class Dictation {
  state = $state<"idle" | "opening" | "listening" | "writing">("idle");
  seconds = $state(0);
  /** Loudness lately, newest last, 0 to 1. */
  levels = $state.raw<readonly number[]>([]);
  /** Words that the browser heard so far. */
  heard = $state("");
  failure = $state<string>();
  /** It was ended because of its length. */
  isCut = $state(false);
  #target: DictationTarget | undefined;
  #microphone: Microphone | undefined;
  #recording: Recording | undefined;
  #recognition: ReturnType<typeof recognize> | undefined;
  #ticks: ReturnType<typeof setInterval> | undefined;
  #asking: AbortController | undefined;
  #final = "";
  /** Counts beginnings: what an earlier one still does is not heard. */
  #turn = 0;

  get isOpen(): boolean {
    return this.state !== "idle" || this.failure !== undefined;
  }

  async begin(target: DictationTarget): Promise<void> {
    this.cancel();
    const turn = ++this.#turn;
    this.#target = target;
    this.state = "opening";
    const listener = chosenListener();
    try {
      if (listener === undefined) {
        throw new Error(noListener());
      }
      const microphone = await openMicrophone();
      if (turn !== this.#turn) {
        microphone.close();
        return;
      }
      this.#microphone = microphone;
      microphone.onend(() => this.#fail(t("The microphone went away. What was said is lost.")));
      if (listener === "server") {
        this.#recording = record(microphone.stream);
      } else {
        this.#recognition = recognize({
          oninterim: (text) => (this.heard = `${this.#final} ${text}`.trim()),
          onfinal: (text) => (this.#final = `${this.#final} ${text}`.trim()),
          onfail: (reason) => this.#fail(reason),
        });
      }
      this.state = "listening";
      const begun = Date.now();
      this.#ticks = setInterval(() => this.#tick(microphone, begun), tickMs);
    } catch (error) {
      if (turn === this.#turn) {
        this.#fail((error as Error).message);
      }
    }
  }

  /** Ends it; what was said goes to the target. */
  async finish(): Promise<void> {
    if (this.state !== "listening") {
      return;
    }
    const turn = this.#turn;
    this.state = "writing";
    clearInterval(this.#ticks);
    try {
      const text = await this.#write();
      if (turn !== this.#turn) {
        return;
      }
      const target = this.#target;
      this.#close();
      if (text === "") {
        this.failure = t("Nothing was heard. Is the microphone the right one, and on?");
      } else {
        target?.ontext(text);
      }
    } catch (error) {
      if (turn === this.#turn) {
        this.#fail((error as Error).message);
      }
    }
  }

  /** Ends it and keeps nothing. */
  cancel(): void {
    this.#turn += 1;
    this.failure = undefined;
    this.isCut = false;
    this.#close();
  }

  async #write(): Promise<string> {
    if (this.#recognition) {
      await this.#recognition.stop();
      // Some browsers never make the last words final.
      return this.#final.length >= this.heard.length ? this.#final : this.heard;
    }
    const sound = await this.#recording?.finish();
    this.#microphone?.close();
    this.#asking = new AbortController();
    return sound === undefined || sound.size === 0 ? "" : await transcribe(sound, this.#asking.signal);
  }

  #tick(microphone: Microphone, begun: number): void {
    this.seconds = Math.floor((Date.now() - begun) / 1000);
    this.levels = [...this.levels, Math.min(1, microphone.level() * 4)].slice(-shownLevels);
    if (this.seconds >= mostSeconds) {
      this.isCut = true;
      void this.finish();
    }
  }

  #fail(reason: string): void {
    this.#turn += 1;
    this.#close();
    this.failure = reason;
  }

  #close(): void {
    clearInterval(this.#ticks);
    this.#asking?.abort();
    this.#recording?.drop();
    this.#recognition?.abort();
    this.#microphone?.close();
    this.#asking = undefined;
    this.#recording = undefined;
    this.#recognition = undefined;
    this.#microphone = undefined;
    this.#target = undefined;
    this.#final = "";
    this.heard = "";
    this.levels = [];
    this.seconds = 0;
    this.state = "idle";
  }
}

export const dictation = new Dictation();
