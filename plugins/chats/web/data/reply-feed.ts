import { type EventEnvelope, socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import type { MessageEvent } from "./reply.ts";

type Bag = Readonly<Record<string, unknown>>;

interface Listener {
  /** The chat of the message, once it is known. */
  chatId(): string | undefined;
  /** Events in their order, none missing, none twice; `fromStart` when they tell the whole reply. */
  onevents(events: readonly MessageEvent[], fromStart: boolean): void;
  /** The whole message, in place of what was there. */
  onsnapshot(message: Bag): void;
}

const longestPauseMs = 250;

/** Follows one reply by the numbers of its events and fetches those that were missed (contract D.18). */
export class ReplyFeed {
  readonly #messageId: string;
  readonly #listener: Listener;
  #seq = 0;
  #isStart = true;
  readonly #early = new Map<number, MessageEvent>();
  #waiting: MessageEvent[] = [];
  #resuming: Promise<void> | undefined;
  #frame: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(messageId: string, listener: Listener) {
    this.#messageId = messageId;
    this.#listener = listener;
  }

  receive({ seq, data }: EventEnvelope): void {
    if (seq === undefined || seq === null) {
      this.#waiting.push(data);
      this.#schedule();
    } else if (seq === this.#seq + 1) {
      this.#take(seq, data);
      this.#takeEarly();
    } else if (seq > this.#seq) {
      this.#early.set(seq, data);
      void this.resume();
    }
  }

  /** Fetches what was missed: after a gap, a lost connection, or where the page was loaded while a reply grows. */
  resume(): Promise<void> {
    this.#resuming ??= this.#resume().finally(() => (this.#resuming = undefined));
    return this.#resuming;
  }

  close(): void {
    this.flush();
    this.#isClosed = true;
  }

  /** Hands on what waits for the next frame. */
  flush(): void {
    cancelAnimationFrame(this.#frame ?? 0);
    clearTimeout(this.#timer);
    this.#frame = undefined;
    const events = this.#waiting;
    this.#waiting = [];
    if (events.length > 0 && !this.#isClosed) {
      this.#listener.onevents(events, this.#isStart);
      this.#isStart = false;
    }
  }

  async #resume(): Promise<void> {
    const chatId = this.#listener.chatId();
    if (chatId === undefined || this.#isClosed) {
      return;
    }
    const answer = await socket
      .emit<Bag>("chat:resume", { chat_id: chatId, message_id: this.#messageId, seq: this.#seq })
      .catch(() => undefined);
    if (!answer || this.#isClosed || answer["error"] !== undefined) {
      return;
    }
    if (answer["snapshot"]) {
      this.#waiting = [];
      this.#seq = Math.max(this.#seq, answer["seq"] as number);
      this.#isStart = false;
      this.#listener.onsnapshot(answer["snapshot"] as Bag);
    } else {
      for (const envelope of answer["events"] as EventEnvelope[]) {
        if (envelope.seq === this.#seq + 1) {
          this.#take(envelope.seq, envelope.data);
        }
      }
    }
    this.#takeEarly();
  }

  #take(seq: number, event: MessageEvent): void {
    this.#seq = seq;
    this.#waiting.push(event);
    this.#schedule();
  }

  #takeEarly(): void {
    for (let next = this.#early.get(this.#seq + 1); next; next = this.#early.get(this.#seq + 1)) {
      this.#early.delete(this.#seq + 1);
      this.#take(this.#seq + 1, next);
    }
    [...this.#early.keys()].filter((seq) => seq <= this.#seq).forEach((seq) => this.#early.delete(seq));
  }

  /** Once a frame, so that the page paints what it is told; a hidden page has no frames, a clock has. */
  #schedule(): void {
    if (this.#frame === undefined) {
      this.#frame = requestAnimationFrame(() => this.flush());
      this.#timer = setTimeout(() => this.flush(), longestPauseMs);
    }
  }
}
