import { ApiError } from "#plugins/web/kit/client.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { MessageList } from "./message-list.svelte.ts";
import type { Channel, ChannelEvent, Message } from "./types.ts";

/** Somebody counts as typing so long after the last sign of it. */
const typingMs = 5_000;
const typingEveryMs = 2_500;

/** A file that goes with a message. */
export interface PostedFile {
  readonly id: string;
  readonly type: "image" | "file";
  readonly name: string;
  readonly content_type: string;
  readonly size: number;
}

/** The channel of the page: its messages, its open thread, and who types. */
export class OpenChannel {
  readonly id: string;
  readonly list: MessageList;
  channel = $state.raw<Channel>();
  state = $state<"loading" | "ready" | "missing" | "failed">("loading");
  failure = $state<string>();
  /** The message whose thread is open, and its replies. */
  parent = $state.raw<Message>();
  thread = $state.raw<MessageList>();
  /** Names of those who type, by id. */
  typing = $state.raw<Readonly<Record<string, string>>>({});
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #typedAt = 0;
  #readTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string) {
    this.id = id;
    this.list = new MessageList(id);
  }

  /** Reads the channel and follows it; returns what ends that. */
  start(): () => void {
    void this.load();
    const off = socket.on<ChannelEvent>("events:channel", (event) => {
      if (event.channel_id === this.id) {
        this.#take(event);
      }
    });
    const offConnect = socket.onConnect((isAgain) => isAgain && void this.load());
    const onSight = () => document.visibilityState === "visible" && this.markRead();
    document.addEventListener("visibilitychange", onSight);
    return () => {
      off();
      offConnect();
      document.removeEventListener("visibilitychange", onSight);
      this.#timers.forEach((timer) => clearTimeout(timer));
      clearTimeout(this.#readTimer);
    };
  }

  async load(): Promise<void> {
    try {
      const [channel] = await Promise.all([
        server.call("GET /api/v1/channels/:id", { params: { id: this.id } }),
        this.list.load(),
        this.thread?.load(),
      ]);
      this.channel = channel;
      this.state = "ready";
      this.markRead();
    } catch (error) {
      const isGone = error instanceof ApiError && (error.status === 404 || error.status === 403);
      this.state = isGone ? "missing" : this.state === "ready" ? "ready" : "failed";
      this.failure = (error as Error).message;
    }
  }

  #take({ message_id: id, data: { type, data }, user }: ChannelEvent): void {
    const message = data as Message;
    if (type === "message") {
      (message.parent_id === null ? this.list : this.#threadOf(message.parent_id))?.add(message);
      this.#stopTyping(user?.id ?? "");
      this.markRead();
    } else if (type === "message:delete") {
      this.list.remove(id ?? "");
      this.thread?.remove(id ?? "");
      if (this.parent?.id === id) {
        this.closeThread();
      }
    } else if (/^message:(?:update|reply|reaction:)/.test(type)) {
      this.list.update(message);
      this.thread?.update(message);
      if (this.parent?.id === message.id) {
        this.parent = message;
      }
    } else if (type === "typing" && user?.id && user.id !== session.current?.id) {
      this.#type(user.id, user.name);
    } else if (type === "channel:updated") {
      void this.load();
    } else if (type === "channel:deleted") {
      this.state = "missing";
    }
  }

  #threadOf(parentId: string): MessageList | undefined {
    return this.thread?.parentId === parentId ? this.thread : undefined;
  }

  #type(id: string, name: string): void {
    this.typing = { ...this.typing, [id]: name };
    clearTimeout(this.#timers.get(id));
    this.#timers.set(
      id,
      setTimeout(() => this.#stopTyping(id), typingMs),
    );
  }

  #stopTyping(id: string): void {
    this.typing = Object.fromEntries(Object.entries(this.typing).filter(([key]) => key !== id));
  }

  /** Tells the others, every few seconds at most. */
  sayTyping(): void {
    if (Date.now() - this.#typedAt > typingEveryMs) {
      this.#typedAt = Date.now();
      const event = { channel_id: this.id, data: { type: "typing", data: { typing: true } } };
      socket.emit("events:channel", event).catch(() => undefined);
    }
  }

  /** What is on a page that nobody sees is not read. */
  markRead(): void {
    if (document.visibilityState === "visible") {
      clearTimeout(this.#readTimer);
      this.#readTimer = setTimeout(() => {
        const event = { channel_id: this.id, data: { type: "last_read_at" } };
        socket.emit("events:channel", event).catch(() => undefined);
      }, 300);
    }
  }

  openThread(message: Message): void {
    this.parent = message;
    this.thread = new MessageList(this.id, message.id);
    void this.thread.load();
  }

  closeThread(): void {
    this.parent = undefined;
    this.thread = undefined;
  }

  /** Posts a message; rejects with the server's reason. */
  async post(
    content: string,
    files: readonly PostedFile[],
    place: { parentId: string | null; replyToId?: string | undefined },
  ): Promise<void> {
    this.#typedAt = 0;
    const message = await server.call("POST /api/v1/channels/:id/messages/post", {
      params: { id: this.id },
      body: {
        content,
        parent_id: place.parentId,
        reply_to_id: place.replyToId ?? null,
        data: files.length > 0 ? { files: files.map((file) => ({ ...file })) } : null,
      },
    });
    (place.parentId === null ? this.list : this.#threadOf(place.parentId))?.add(message);
  }

  /** Changes the words of a message; resolves to false when that fails. */
  async edit(message: Message, content: string): Promise<boolean> {
    return await this.#try(t("The message was not changed."), async () => {
      const changed = await server.call("POST /api/v1/channels/:id/messages/:message_id/update", {
        params: this.#at(message),
        body: { content },
      });
      this.#update(changed);
    });
  }

  async pin(message: Message): Promise<void> {
    await this.#try(t("The pin was not changed."), async () => {
      const changed = await server.call("POST /api/v1/channels/:id/messages/:message_id/pin", {
        params: this.#at(message),
        body: { is_pinned: !message.is_pinned },
      });
      this.#update(changed);
    });
  }

  /** Reacts, or takes one's reaction back. */
  async react(message: Message, name: string): Promise<void> {
    const own = message.reactions.find((one) => one.name === name)?.users;
    const isOn = own?.some(({ id }) => id === session.current?.id) ?? false;
    const call = { params: this.#at(message), body: { name } };
    await this.#try(t("The reaction was not saved."), async () => {
      await (isOn
        ? server.call("POST /api/v1/channels/:id/messages/:message_id/reactions/remove", call)
        : server.call("POST /api/v1/channels/:id/messages/:message_id/reactions/add", call));
    });
  }

  async stop(message: Message): Promise<void> {
    await this.#try(t("The reply was not stopped."), async () => {
      await server.call("POST /api/v1/channels/:id/messages/:message_id/stop", { params: this.#at(message) });
    });
  }

  /** Has the model answer once more in the place of a reply that failed. */
  async retry(message: Message): Promise<void> {
    await this.#try(t("The model was not asked again."), async () => {
      await server.call("POST /api/v1/channels/:id/messages/:message_id/retry", {
        params: this.#at(message),
      });
    });
  }

  /** Gone from the page at once; undone within ten seconds it comes back. */
  remove(message: Message): void {
    const list = message.parent_id === null ? this.list : this.thread;
    list?.remove(message.id);
    if (this.parent?.id === message.id) {
      this.closeThread();
    }
    toasts.undoable({
      text: t("The message is deleted."),
      title: t("Undo"),
      undo: () => list?.load(),
      commit: async () => {
        const call = { params: this.#at(message) };
        await server
          .call("DELETE /api/v1/channels/:id/messages/:message_id/delete", call)
          .catch((error: unknown) => {
            toasts.fail(error, t("The message was not deleted."));
            void list?.load();
          });
      },
    });
  }

  #at = (message: Message) => ({ id: this.id, message_id: message.id });

  #update(message: Message): void {
    this.list.update(message);
    this.thread?.update(message);
    if (this.parent?.id === message.id) {
      this.parent = message;
    }
  }

  async #try(what: string, act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      toasts.fail(error, what);
      return false;
    }
  }
}
