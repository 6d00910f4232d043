import { server } from "#plugins/web/kit/server.ts";
import type { Message, MessageMeta } from "./types.ts";

const pageSize = 50;
/** Messages that are held, and so shown: those far from the place that is read are let go, and read again on the way back. */
const mostHeld = 400;

/** The messages of a channel, or of the thread of one message, oldest first. */
export class MessageList {
  readonly channelId: string;
  readonly parentId: string | null;
  items = $state.raw<readonly Message[]>([]);
  state = $state<"loading" | "ready" | "failed">("loading");
  failure = $state<string>();
  hasOlder = $state(false);
  isLoadingOlder = $state(false);
  isLoadingNewer = $state(false);
  /** False while the newest are not held. */
  isAtEnd = $state(true);
  /** Messages that came while the newest are read, whose answer may lack them; undefined at other times. */
  #arrived: Message[] | undefined;

  constructor(channelId: string, parentId: string | null = null) {
    this.channelId = channelId;
    this.parentId = parentId;
  }

  /** Reads the newest page. */
  async load(): Promise<void> {
    this.#arrived = [];
    try {
      const rows = await this.#read({});
      this.items = rows.toReversed();
      this.hasOlder = rows.length === pageSize;
      this.#reachEnd();
      this.state = "ready";
      this.failure = undefined;
    } catch (error) {
      this.state = this.state === "ready" ? "ready" : "failed";
      this.failure = (error as Error).message;
    } finally {
      this.#arrived = undefined;
    }
  }

  async loadOlder(): Promise<void> {
    const [first] = this.items;
    if (!this.hasOlder || this.isLoadingOlder || first === undefined) {
      return;
    }
    this.isLoadingOlder = true;
    try {
      const rows = await this.#read({ before: first.id });
      const all = [...rows.toReversed(), ...this.items];
      this.isAtEnd &&= all.length <= mostHeld;
      this.items = all.slice(0, mostHeld);
      this.hasOlder = rows.length === pageSize;
    } finally {
      this.isLoadingOlder = false;
    }
  }

  /** Reads on towards the newest, where those were let go. */
  async loadNewer(): Promise<void> {
    const last = this.items.at(-1);
    if (this.isAtEnd || this.isLoadingNewer || last === undefined) {
      return;
    }
    this.isLoadingNewer = true;
    this.#arrived = [];
    try {
      const rows = await this.#read({ after: last.id });
      const all = [...this.items, ...rows.toReversed()];
      this.hasOlder ||= all.length > mostHeld;
      this.items = all.slice(-mostHeld);
      if (rows.length < pageSize) {
        this.#reachEnd();
      }
    } finally {
      this.isLoadingNewer = false;
      this.#arrived = undefined;
    }
  }

  #reachEnd(): void {
    this.isAtEnd = true;
    const arrived = this.#arrived ?? [];
    this.#arrived = undefined;
    arrived.forEach((message) => this.add(message));
  }

  async #read(beside: { before?: string; after?: string }): Promise<Message[]> {
    const query = { limit: pageSize, ...beside };
    return this.parentId === null
      ? await server.call("GET /api/v1/channels/:id/messages", { params: { id: this.channelId }, query })
      : await server.call("GET /api/v1/channels/:id/messages/:message_id/thread", {
          params: { id: this.channelId, message_id: this.parentId },
          query,
        });
  }

  /** Adds a new message; the answer to a post and its event may come in any order. */
  add(message: Message): void {
    this.#arrived?.push(message);
    if (this.isAtEnd && !this.items.some(({ id }) => id === message.id)) {
      this.items = [...this.items, message];
    }
  }

  /** Takes a change in; while a model writes only its words are new. */
  update(message: Message): void {
    const isWriting = (message.meta as MessageMeta | null)?.done === false;
    this.items = this.items.map((held) => {
      if (held.id !== message.id) {
        return held;
      }
      return isWriting ? { ...held, content: message.content } : message;
    });
  }

  remove(id: string): void {
    this.items = this.items.filter((held) => held.id !== id);
  }
}
