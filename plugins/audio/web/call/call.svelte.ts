import { untrack } from "svelte";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { settings } from "#plugins/web/kit/stores/settings.svelte.ts";
import type { ShownReply, TalkedChat } from "#plugins/web/kit/talked-chat.ts";
import { dictation } from "../listening/dictation.svelte.ts";
import { reader } from "../speech/reader.svelte.ts";
import { Ear } from "./ear.ts";
import { awaitEnd, awaitReply, awaitRest } from "./follow-chat.svelte.ts";

export type CallState =
  | "connecting"
  | "listening"
  | "hearing"
  | "writing"
  | "thinking"
  | "speaking"
  | "failed";

const shownCaptions = 6;

export interface Caption {
  readonly who: "person" | "model";
  readonly text: string;
}

/** A conversation by voice: listens, sends what was said, reads the reply, and listens again. One at a time. */
class Call {
  isOpen = $state(false);
  state = $state<CallState>("connecting");
  isMuted = $state(false);
  hasCaptions = $state(true);
  level = $state(0);
  /** Words that the browser guesses while one speaks. */
  guess = $state("");
  captions = $state.raw<readonly Caption[]>([]);
  /** Why the call cannot go on, or why the last utterance was lost. */
  failure = $state<string>();
  #ear: Ear | undefined;
  #chat: TalkedChat | undefined;
  /** Counts turns: an earlier one that still works is not heard any more. */
  #turn = 0;
  #screen: WakeLockSentinel | undefined;

  async begin(chat: TalkedChat): Promise<void> {
    reader.stop();
    dictation.cancel();
    this.#chat = chat;
    this.isOpen = true;
    this.isMuted = false;
    this.captions = [];
    await this.connect();
  }

  /** Opens the microphone; once more where it failed. */
  async connect(): Promise<void> {
    this.#ear?.close();
    this.state = "connecting";
    this.failure = undefined;
    const ear = new Ear({
      onlevel: (level) => (this.level = level),
      onspeech: (isSpeaking) => this.#onspeech(isSpeaking),
      onguess: (text) => (this.guess = text),
      onwords: (text) => void this.#answer(text),
      onfail: (reason, isFatal) => this.#onfail(reason, isFatal),
    });
    this.#ear = ear;
    try {
      await ear.open();
      if (this.#ear === ear) {
        this.#listen();
        void this.#keepScreenOn();
      }
    } catch (error) {
      if (this.#ear === ear) {
        this.#onfail((error as Error).message, true);
      }
    }
  }

  hangUp(): void {
    this.#turn += 1;
    this.#ear?.close();
    this.#ear = undefined;
    reader.stop();
    void this.#screen?.release().catch(() => undefined);
    this.#screen = undefined;
    this.#chat = undefined;
    this.level = 0;
    this.guess = "";
    this.isOpen = false;
  }

  toggleMute(): void {
    this.isMuted = !this.isMuted;
    this.#ear?.mute(this.isMuted);
    if (this.isMuted && this.state === "hearing") {
      this.#listen();
    }
  }

  /** Ends the speech of a reply; the reply itself stays in the chat. */
  interrupt(): void {
    if (this.state === "speaking" || this.state === "thinking") {
      this.#turn += 1;
      reader.stop();
      this.#listen();
    }
  }

  #listen(): void {
    this.state = "listening";
    this.guess = "";
    this.#ear?.setOverSpeech(false);
  }

  #onspeech(isSpeaking: boolean): void {
    if (isSpeaking && this.state === "speaking" && settings.get("voiceInterruption")) {
      this.interrupt();
    }
    if (isSpeaking && (this.state === "listening" || this.state === "writing")) {
      this.failure = undefined;
      this.state = "hearing";
    } else if (!isSpeaking && this.state === "hearing") {
      this.state = "writing";
    }
  }

  #onfail(reason: string, isFatal: boolean): void {
    this.failure = reason || t("The microphone went away.");
    if (isFatal) {
      this.#turn += 1;
      reader.stop();
      this.#ear?.close();
      this.#ear = undefined;
      this.state = "failed";
    } else if (this.state !== "speaking") {
      this.#listen();
    }
  }

  async #answer(text: string): Promise<void> {
    const chat = this.#chat;
    if (text === "" && this.state === "writing") {
      this.#listen();
    }
    // Without interruption, what is said while a reply is heard is no question.
    if (
      !chat ||
      text === "" ||
      this.state === "failed" ||
      (this.state === "speaking" && !settings.get("voiceInterruption"))
    ) {
      return;
    }
    const turn = ++this.#turn;
    const isCurrent = () => turn === this.#turn && this.isOpen;
    reader.stop();
    this.#ear?.setOverSpeech(false);
    this.state = "thinking";
    this.guess = "";
    this.failure = undefined;
    this.#caption({ who: "person", text });
    try {
      await this.#ask(chat, { text, isCurrent });
    } catch (error) {
      if (isCurrent()) {
        this.#onfail((error as Error).message, false);
      }
    }
  }

  async #ask(
    chat: TalkedChat,
    { text, isCurrent }: { text: string; isCurrent: () => boolean },
  ): Promise<void> {
    if (chat.isRunning) {
      await chat.stop();
      await awaitRest(chat);
    }
    const before = chat.lastReply?.id;
    // The reply stands in the chat, empty, before the server has taken the question.
    chat.say(text).catch((error: Error) => {
      if (isCurrent()) {
        this.#turn += 1;
        reader.stop();
        this.#onfail(error.message, false);
      }
    });
    const reply = await awaitReply(chat, before);
    if (!isCurrent()) {
      return;
    }
    if (!reply) {
      throw new Error(t("No reply came."));
    }
    await this.#speak(reply, isCurrent);
  }

  async #speak(reply: ShownReply, isCurrent: () => boolean): Promise<void> {
    this.#caption({ who: "model", text: "" });
    const said: string[] = [];
    const unfollow = $effect.root(() => {
      $effect(() => {
        const isHeard = reader.currentId === reply.id && reader.phase !== "loading";
        const text = isHeard ? reader.piece : session.may("chat.tts") ? "" : reply.text;
        untrack(() => isCurrent() && this.#follow({ text, isHeard, said }));
      });
    });
    try {
      const error = session.may("chat.tts") ? await readAloud(reply) : await awaitEnd(reply);
      if (isCurrent()) {
        this.failure = reply.failure ?? error?.message;
        this.#listen();
      }
    } finally {
      unfollow();
    }
  }

  /** Captions go along with the voice; the microphone's threshold with its sound. */
  #follow({ text, isHeard, said }: { text: string; isHeard: boolean; said: string[] }): void {
    if (isHeard && this.state === "thinking") {
      this.state = "speaking";
      this.#ear?.setOverSpeech(true);
    }
    if (text !== "" && said.at(-1) !== text) {
      // A text that is not heard is shown as it grows; pieces that are heard, one behind the other.
      said.splice(isHeard ? said.length : 0, said.length, text);
      this.captions = [...this.captions.slice(0, -1), { who: "model", text: said.join(" ") }];
    }
  }

  #caption(caption: Caption): void {
    this.captions = [...this.captions, caption].slice(-shownCaptions);
  }

  /** A phone that is laid down would go dark and end the microphone. */
  async #keepScreenOn(): Promise<void> {
    this.#screen = await navigator.wakeLock?.request("screen").catch(() => undefined);
  }
}

/** Resolves when the reply was heard, to what went wrong. */
async function readAloud(reply: ShownReply): Promise<Error | undefined> {
  const ending = await reader.read(reply);
  return ending.is === "failed" ? ending.error : undefined;
}

export const call = new Call();
