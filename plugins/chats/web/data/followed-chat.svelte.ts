import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { ApiError } from "#plugins/web/kit/client.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { EventEnvelope } from "#plugins/web/kit/stores/socket.svelte.ts";
import { ChatState } from "./chat-state.svelte.ts";
import { applyEvents } from "./reply.ts";
import { ReplyFeed } from "./reply-feed.ts";
import { readMessage, type ServerChat } from "./server-chat.ts";
import type { ChatMessage } from "./types.ts";

/** A chat that is read from the server, and whose replies are followed while they are written. */
export abstract class FollowedChat extends ChatState {
  protected readonly feeds = new SvelteMap<string, ReplyFeed>();
  /** Messages that the server has not confirmed. */
  readonly sending = new SvelteSet<string>();

  /** Counts what the server took: an answer that was on its way at that moment lacks it. */
  placed = 0;

  get isRunning(): boolean {
    return this.feeds.size > 0 || this.sending.size > 0;
  }

  isSent(id: string): boolean {
    return !this.sending.has(id);
  }

  isWriting(id: string): boolean {
    return this.feeds.has(id);
  }

  /** The server writes a reply whose question it has not confirmed. */
  protected abstract onarrived(replyId: string, chatId: string | undefined): void;
  /** True for an event of a reply that the page does not show any more. */
  protected abstract isRecalled(replyId: string, chatId: string | undefined): boolean;
  /** The last reply ended. */
  protected abstract onidle(): void;
  /** The chat stands as the server has it. */
  protected abstract onload(): void;

  async load(): Promise<void> {
    const id = this.id;
    if (id === undefined || this.isTemporary) {
      return;
    }
    const isFirst = this.state !== "ready";
    try {
      const stored = await this.#read(id);
      this.take(stored as ServerChat, new Set([...this.feeds.keys(), ...this.sending]));
      this.state = "ready";
      this.failure = undefined;
      await this.#resumeUnfinished(id, isFirst);
      this.onload();
    } catch (error) {
      const isMissing = error instanceof ApiError && (error.status === 404 || error.status === 401);
      this.isDeleted ||= this.messages.size > 0 && error instanceof ApiError && error.status === 404;
      this.state = this.messages.size > 0 ? this.state : isMissing ? "missing" : "failed";
      this.failure = error as Error;
    }
  }

  async #read(id: string): Promise<unknown> {
    for (;;) {
      const { placed } = this;
      const stored = await server.call("GET /api/v1/chats/:id", { params: { id } });
      if (placed === this.placed) {
        return stored;
      }
    }
  }

  receive(envelope: EventEnvelope): boolean {
    const id = envelope.message_id ?? "";
    const feed = this.feeds.get(id);
    if (feed !== undefined && this.sending.has(id)) {
      this.onarrived(id, envelope.chat_id);
    }
    feed?.receive(envelope);
    return feed !== undefined || this.isRecalled(id, envelope.chat_id);
  }

  resumeFeeds(): void {
    this.feeds.forEach((feed) => void feed.resume());
  }

  protected closeFeeds(): void {
    this.feeds.forEach((feed) => feed.close());
  }

  /** Follows a reply until it is done. */
  follow(id: string): void {
    if (this.feeds.has(id)) {
      return;
    }
    const feed = new ReplyFeed(id, {
      chatId: () => this.id,
      onevents: (events, fromStart) => {
        const message = this.messages.get(id);
        if (message) {
          const begin = fromStart && !message.done ? { ...message, done: false } : message;
          this.#put(applyEvents(begin, events));
        }
      },
      onsnapshot: (snapshot) => {
        const before = this.messages.get(id);
        const { parentId, childrenIds, timestamp } = before ?? {};
        this.#put({
          ...before,
          ...readMessage(id, { ...before, ...snapshot, parentId, childrenIds, timestamp, role: "assistant" }),
        });
      },
    });
    this.feeds.set(id, feed);
  }

  #put(message: ChatMessage): void {
    this.messages.set(message.id, message);
    this.tasks = message.tasks ?? this.tasks;
    if (message.done) {
      this.end(message.id);
    }
  }

  end(id: string): void {
    const feed = this.feeds.get(id);
    this.feeds.delete(id);
    feed?.close();
    if (!this.isRunning) {
      this.onidle();
    }
  }

  async #resumeUnfinished(id: string, isFirst: boolean): Promise<void> {
    const unfinished = [...this.messages.values()].filter(
      (one) => one.role === "assistant" && one.done === false && !this.feeds.has(one.id),
    );
    if (unfinished.length === 0) {
      return;
    }
    if (isFirst) {
      // Written until the server says otherwise: what comes behind such a reply waits, and it can be stopped.
      unfinished.forEach(({ id: messageId }) => this.follow(messageId));
    }
    const { task_ids: runs } = (await server.call("GET /api/tasks/chat/:chat_id", {
      params: { chat_id: id },
    })) as { task_ids: string[] };
    for (const { id: messageId } of unfinished) {
      if (runs.length > 0) {
        this.follow(messageId);
        void this.feeds.get(messageId)?.resume();
      } else {
        this.end(messageId);
      }
    }
  }
}
