import { server } from "#plugins/web/kit/server.ts";
import type { Message, MessageMeta } from "./types.ts";

const pageSize = 50;
/** Messages that are held in a window that reads far back; the newest go first, and come back with a jump. */
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
  /** False while the newest are not held. */
  isAtEnd = $state(true);

  constructor(channelId: string, parentId: string | null = null) {
    this.channelId = channelId;
    this.parentId = parentId;
  }

  /** Reads the newest page. */
  async load(): Promise<void> {
    try {
      const rows = await this.#read(undefined);
      this.items = rows.toReversed();
      this.hasOlder = rows.length === pageSize;
      this.isAtEnd = true;
      this.state = "ready";
      this.failure = undefined;
    } catch (error) {
      this.state = this.state === "ready" ? "ready" : "failed";
      this.failure = (error as Error).message;
    }
  }

  async loadOlder(): Promise<void> {
    const [first] = this.items;
    if (!this.hasOlder || this.isLoadingOlder || first === undefined) {
      return;
    }
    this.isLoadingOlder = true;
    try {
      const rows = await this.#read(first.id);
      const all = [...rows.toReversed(), ...this.items];
      this.isAtEnd &&= all.length <= mostHeld;
      this.items = all.slice(0, mostHeld);
      this.hasOlder = rows.length === pageSize;
    } finally {
      this.isLoadingOlder = false;
    }
  }

  async #read(before: string | undefined): Promise<Message[]> {
    const query = { limit: pageSize, ...(before !== undefined && { before }) };
    return this.parentId === null
      ? await server.call("GET /api/v1/channels/:id/messages", { params: { id: this.channelId }, query })
      : await server.call("GET /api/v1/channels/:id/messages/:message_id/thread", {
          params: { id: this.channelId, message_id: this.parentId },
          query,
        });
  }

  /** Adds a new message; the answer to a post and its event may come in any order. */
  add(message: Message): void {
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
