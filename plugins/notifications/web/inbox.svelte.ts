import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";
import { CurrentReads } from "#plugins/web/kit/stores/current-reads.ts";
import { serverNow } from "#plugins/web/kit/stores/server-time.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";

export type Notification = Api["GET /api/v1/notifications/"]["answer"]["items"][number];

/** The notification centre of the person, as all its views share it. */
class Inbox {
  items = $state.raw<readonly Notification[]>();
  unread = $state(0);
  hasMore = $state(false);
  failure = $state<string>();
  #page = 1;
  readonly #reads = new CurrentReads();
  #isFollowing = false;

  /** Loads the first page, and again whenever a lost connection comes back. */
  async load(): Promise<void> {
    if (!this.#isFollowing) {
      this.#isFollowing = true;
      socket.onConnect((isAgain) => isAgain && void this.load());
    }
    try {
      const {
        items,
        unread,
        has_more: hasMore,
      } = await this.#reads.read(async () => await server.call("GET /api/v1/notifications/"));
      [this.items, this.unread, this.hasMore, this.#page] = [items, unread, hasMore, 1];
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  async more(): Promise<void> {
    const page = this.#page + 1;
    const { items, has_more: hasMore } = await server.call("GET /api/v1/notifications/", { query: { page } });
    const known = new Set(this.items?.map(({ id }) => id));
    this.items = [...(this.items ?? []), ...items.filter(({ id }) => !known.has(id))];
    [this.hasMore, this.#page] = [hasMore, page];
  }

  async markRead(ids?: readonly string[]): Promise<void> {
    const body = ids === undefined ? {} : { ids: [...ids] };
    this.unread = (await server.call("POST /api/v1/notifications/read", { body })).unread;
    this.seen(ids ?? null);
  }

  async remove(id: string): Promise<void> {
    this.unread = (await server.call("DELETE /api/v1/notifications/:id", { params: { id } })).unread;
    this.items = this.items?.filter((one) => one.id !== id);
  }

  async clear(): Promise<void> {
    await server.call("DELETE /api/v1/notifications/");
    [this.items, this.unread, this.hasMore] = [[], 0, false];
  }

  /** Another window or the server says that something is new. */
  created(notification: Notification, unread: number): void {
    this.#reads.changed();
    this.unread = unread;
    this.items = this.items && [notification, ...this.items.filter(({ id }) => id !== notification.id)];
  }

  /** Marks some, or all with null, as read. */
  seen(ids: readonly string[] | null, unread?: number): void {
    this.#reads.changed();
    const now = Math.floor(serverNow() / 1000);
    this.unread = unread ?? this.unread;
    this.items = this.items?.map((one) =>
      one.read_at === null && (ids === null || ids.includes(one.id)) ? { ...one, read_at: now } : one,
    );
  }
}

export const inbox = new Inbox();
