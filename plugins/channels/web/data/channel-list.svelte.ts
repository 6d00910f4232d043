import { server } from "#plugins/web/kit/server.ts";
import { CurrentReads } from "#plugins/web/kit/stores/current-reads.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import type { ChannelEvent, ChannelItem, Message } from "./types.ts";

/** The channels of the sidebar with what is unread in them. */
class ChannelList {
  items = $state.raw<readonly ChannelItem[]>([]);
  state = $state<"idle" | "loading" | "ready" | "failed">("idle");
  failure = $state<string>();
  /** The channel that is open in this window: it is read as it comes. */
  openId = $state<string>();
  readonly #reads = new CurrentReads();

  get isOffered(): boolean {
    return session.has("enable_channels") && session.may("features.channels");
  }

  /** Reads the list once and follows it from then on. */
  start(): void {
    if (this.state !== "idle" || !this.isOffered) {
      return;
    }
    void this.load();
    const join = () => void socket.emit("join-channels", {}).catch(() => undefined);
    socket.onConnect((isAgain) => {
      join();
      if (isAgain) {
        void this.load();
      }
    });
    socket.on<ChannelEvent>("events:channel", (event) => this.#take(event));
    join();
  }

  async load(): Promise<void> {
    this.state = this.state === "ready" ? "ready" : "loading";
    try {
      this.items = await this.#reads.read(async () => await server.call("GET /api/v1/channels/"));
      this.state = "ready";
      this.failure = undefined;
    } catch (error) {
      this.state = "failed";
      this.failure = (error as Error).message;
    }
  }

  #take({ channel_id: id, data: { type, data } }: ChannelEvent): void {
    if (type.startsWith("channel:")) {
      this.#reads.changed();
      void this.load();
    } else if (type === "last_read_at") {
      this.#change(id, { unread_count: 0 });
    } else if (type === "message") {
      const message = data as Message;
      const isOwn = message.user_id === session.current?.id;
      const item = this.items.find((one) => one.id === id);
      if (item && message.parent_id === null && !isOwn && !this.#isRead(id)) {
        this.#change(id, { unread_count: item.unread_count + 1 });
      }
    }
  }

  #isRead(id: string): boolean {
    return this.openId === id && document.visibilityState === "visible";
  }

  #change(id: string, change: Partial<ChannelItem>): void {
    this.#reads.changed();
    this.items = this.items.map((item) => (item.id === id ? { ...item, ...change } : item));
  }
}

export const channelList = new ChannelList();

/** How a channel is called: a direct one by the people in it. */
export function nameOf({ type, name, users }: Pick<ChannelItem, "type" | "name" | "users">): string {
  if (type !== "dm") {
    return name;
  }
  const others = (users ?? []).filter(({ id }) => id !== session.current?.id);
  return (others.length > 0 ? others : (users ?? [])).map((person) => person.name).join(", ");
}
