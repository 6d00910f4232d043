import { type Microphone, openMicrophone } from "../listening/microphone.ts";
import { chosenListener, noListener, recognize } from "../listening/recognition.ts";
import { type Recording, record, transcribe } from "../listening/recording.ts";
import { EnergyDetector } from "./energy-detector.ts";

const tickMs = 50;
/** While a reply is heard, its echo has to be spoken over. */
const overSpeech = 2.5;
/** A recording without speech is begun anew, so that it holds no long silence. */
const silenceMs = 8_000;
const browserPatienceMs = 4_000;

export interface EarEvents {
  onlevel(level: number): void;
  /** Speech began or ended. */
  onspeech(isSpeaking: boolean): void;
  /** The browser's guess at what is being said. */
  onguess(text: string): void;
  /** An utterance, written down; "" where it held no words. */
  onwords(text: string): void;
  onfail(reason: string, isFatal: boolean): void;
}

/** Listens through a whole call: finds utterances and writes them down. */
export class Ear {
  #isMuted = false;
  #isOverSpeech = false;
  readonly #events: EarEvents;
  readonly #detector = new EnergyDetector();
  readonly #left = new AbortController();
  #microphone: Microphone | undefined;
  #recording: Recording | undefined;
  #recordingSince = 0;
  #recognition: ReturnType<typeof recognize> | undefined;
  #ticks: ReturnType<typeof setInterval> | undefined;

  constructor(events: EarEvents) {
    this.#events = events;
  }

  /** Rejects with the reason in words where nothing can be heard. */
  async open(): Promise<void> {
    const listener = chosenListener();
    if (listener === undefined) {
      throw new Error(noListener());
    }
    const microphone = await openMicrophone();
    if (this.#left.signal.aborted) {
      microphone.close();
      return;
    }
    this.#microphone = microphone;
    microphone.onend(() => this.#left.signal.aborted || this.#events.onfail("", true));
    this.#listenBy(listener, microphone);
    this.#ticks = setInterval(() => this.#tick(microphone), tickMs);
  }

  close(): void {
    this.#left.abort();
    clearInterval(this.#ticks);
    this.#recording?.drop();
    this.#recognition?.abort();
    this.#microphone?.close();
  }

  mute(isMuted: boolean): void {
    this.#isMuted = isMuted;
    this.#microphone?.stream.getAudioTracks().forEach((track) => (track.enabled = !isMuted));
    this.#detector.reset();
    this.#restart();
  }

  /** A reply is heard meanwhile: it takes more to be taken for speech. */
  setOverSpeech(isOver: boolean): void {
    if (this.#isOverSpeech === isOver) {
      return;
    }
    this.#isOverSpeech = isOver;
    if (isOver) {
      this.#detector.reset();
    }
    if (this.#recognition) {
      // Browsers write down what they say themselves.
      this.#recognition.abort();
      if (!isOver && !this.#left.signal.aborted) {
        this.#recognition = this.#recognize();
      }
    }
  }

  #listenBy(listener: "browser" | "server", microphone: Microphone): void {
    if (listener === "server") {
      this.#recording = record(microphone.stream);
      this.#recordingSince = Date.now();
      return;
    }
    this.#recognition = this.#recognize();
  }

  #recognize(): ReturnType<typeof recognize> {
    return recognize({
      oninterim: (text) => this.#isHeard && this.#events.onguess(text),
      onfinal: (text) => this.#isHeard && this.#events.onwords(text),
      onfail: (reason) => this.#events.onfail(reason, true),
    });
  }

  get #isHeard(): boolean {
    return !this.#isMuted && !this.#isOverSpeech;
  }

  #tick(microphone: Microphone): void {
    const level = this.#isMuted ? 0 : microphone.level();
    const now = Date.now();
    this.#events.onlevel(Math.min(1, level * 4));
    const change = this.#isMuted
      ? undefined
      : this.#detector.push(level, { now, strictness: this.#isOverSpeech ? overSpeech : 1 });
    if (change) {
      this.#events.onspeech(change === "begins");
    }
    if (change === "ends") {
      void this.#write();
    } else if (!this.#detector.isSpeaking && now - this.#recordingSince > silenceMs) {
      this.#restart();
    }
  }

  #restart(): void {
    if (this.#recording && this.#microphone && !this.#left.signal.aborted) {
      this.#recording.drop();
      this.#recording = record(this.#microphone.stream);
      this.#recordingSince = Date.now();
    }
  }

  /** Writes down the utterance that ended, while the next one is listened for. */
  async #write(): Promise<void> {
    const recording = this.#recording;
    if (!recording || !this.#microphone) {
      // The browser tells its words by itself, where there were any.
      setTimeout(() => this.#left.signal.aborted || this.#events.onwords(""), browserPatienceMs);
      return;
    }
    const finished = recording.finish();
    this.#recording = record(this.#microphone.stream);
    this.#recordingSince = Date.now();
    try {
      const text = await transcribe(await finished, this.#left.signal);
      this.#left.signal.throwIfAborted();
      this.#events.onwords(text);
    } catch (error) {
      if (!this.#left.signal.aborted) {
        this.#events.onfail((error as Error).message, false);
      }
    }
  }
}
