import { SvelteMap } from "svelte/reactivity";
import { server } from "#plugins/web/kit/server.ts";
import { CurrentReads } from "#plugins/web/kit/stores/current-reads.ts";
import { type EventEnvelope, socket } from "#plugins/web/kit/stores/socket.svelte.ts";

/** A sub-agent as `GET /chats/:id/subagents` tells of it. */
export interface Subagent {
  readonly id: string;
  readonly chat_id: string;
  readonly message_id: string | null;
  readonly call_id: string | null;
  readonly subagent_chat_id: string;
  readonly mode: "foreground" | "background";
  readonly task: string;
  readonly state: "running" | "completed" | "failed" | "interrupted" | "stopped";
  readonly error: string | null;
  /** Epoch seconds. */
  readonly created_at: number;
  readonly ended_at: number | null;
}

/** The sub-agents of one chat, kept up to date while somebody looks at them. */
export class ChatSubagents {
  readonly #byCall = new SvelteMap<string, Subagent>();
  readonly #chatId: string;
  readonly #reads = new CurrentReads();

  constructor(chatId: string) {
    this.#chatId = chatId;
  }

  find(messageId: string, callId: string): Subagent | undefined {
    return this.#byCall.get(keyOf(messageId, callId));
  }

  /** Reads them and follows them; returns the way out. */
  follow(): () => void {
    const read = () => void this.#read().catch(() => undefined);
    const drops = [
      socket.on("events", ({ chat_id: chatId, data }: EventEnvelope) => {
        if (data.type === "chat:subagent" && chatId === this.#chatId) {
          this.#reads.changed();
          this.#put(data.data as Subagent);
        }
      }),
      // Events of a time without a connection were not told.
      socket.onConnect((isAgain) => isAgain && read()),
    ];
    read();
    return () => drops.forEach((drop) => drop());
  }

  async #read(): Promise<void> {
    const all = await this.#reads.read(
      async () => await server.call("GET /api/v1/chats/:id/subagents", { params: { id: this.#chatId } }),
    );
    all.forEach((one) => this.#put(one));
  }

  #put(one: Subagent): void {
    this.#byCall.set(keyOf(one.message_id ?? "", one.call_id ?? ""), one);
  }
}

const keyOf = (messageId: string, callId: string): string => `${messageId} ${callId}`;

interface Answer {
  readonly status?: unknown;
  readonly error?: unknown;
  readonly subagent_chat_id?: unknown;
}

/** The state that a call's answer tells, where nothing else is known: in shared chats, and in those of other servers. */
export function readAnswer(answer: string | undefined): Answer {
  try {
    return (JSON.parse(answer ?? "{}") as Answer | null) ?? {};
  } catch {
    return { status: "failed" };
  }
}

/** The task of a call; what a model is still writing has none. */
export function readTask(given: string): string {
  try {
    const { task } = JSON.parse(given) as { task?: unknown };
    return typeof task === "string" ? task : "";
  } catch {
    return "";
  }
}
