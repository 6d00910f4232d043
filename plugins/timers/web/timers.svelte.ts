import { SvelteMap } from "svelte/reactivity";
import { server } from "#plugins/web/kit/server.ts";
import { CurrentReads } from "#plugins/web/kit/stores/current-reads.ts";
import { type EventEnvelope, socket } from "#plugins/web/kit/stores/socket.svelte.ts";

/** A timer as `GET /chats/:id/timers` tells of it. Times are epoch seconds. */
export interface Timer {
  readonly id: string;
  readonly chat_id: string;
  readonly message_id: string | null;
  readonly call_id: string | null;
  readonly prompt: string;
  readonly cancel_on: readonly string[];
  readonly state: "waiting" | "fired" | "cancelled";
  readonly cancelled_by: string | null;
  readonly due_at: number;
  readonly created_at: number;
  readonly ended_at: number | null;
}

/** The timers of one chat, kept up to date while somebody looks at them. */
export class ChatTimers {
  readonly #byCall = new SvelteMap<string, Timer>();
  readonly #chatId: string;
  readonly #reads = new CurrentReads();

  constructor(chatId: string) {
    this.#chatId = chatId;
  }

  find(messageId: string, callId: string): Timer | undefined {
    return this.#byCall.get(keyOf(messageId, callId));
  }

  /** Reads them and follows them; returns the way out. */
  follow(): () => void {
    const read = () => void this.#read().catch(() => undefined);
    const drops = [
      socket.on("events", ({ chat_id: chatId, data }: EventEnvelope) => {
        if (data.type === "chat:timer" && chatId === this.#chatId) {
          this.#reads.changed();
          this.#put(data.data as Timer);
        }
      }),
      // Events of a time without a connection were not told.
      socket.onConnect((isAgain) => isAgain && read()),
    ];
    read();
    return () => drops.forEach((drop) => drop());
  }

  async cancel(id: string): Promise<void> {
    const cancelled = await server.call("POST /api/v1/timers/:id/cancel", { params: { id } });
    this.#reads.changed();
    this.#put(cancelled);
  }

  async #read(): Promise<void> {
    const all = await this.#reads.read(
      async () => await server.call("GET /api/v1/chats/:id/timers", { params: { id: this.#chatId } }),
    );
    all.forEach((one) => this.#put(one));
  }

  #put(one: Timer): void {
    this.#byCall.set(keyOf(one.message_id ?? "", one.call_id ?? ""), one);
  }
}

const keyOf = (messageId: string, callId: string): string => `${messageId} ${callId}`;

/** The note of a call; what a model is still writing has none. */
export function readNote(given: string): string {
  try {
    const { prompt } = JSON.parse(given) as { prompt?: unknown };
    return typeof prompt === "string" ? prompt : "";
  } catch {
    return "";
  }
}

/** When a call's answer says that the timer is due, in epoch seconds: all that is known in shared chats. */
export function readDue(answer: string | undefined): number | undefined {
  try {
    const { at } = JSON.parse(answer ?? "{}") as { at?: unknown };
    const ms = typeof at === "string" ? Date.parse(at) : Number.NaN;
    return Number.isNaN(ms) ? undefined : ms / 1_000;
  } catch {
    return undefined;
  }
}
