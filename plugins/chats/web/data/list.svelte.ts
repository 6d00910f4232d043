import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { server } from "#plugins/web/kit/server.ts";
import { CurrentReads } from "#plugins/web/kit/stores/current-reads.ts";
import { matchPath, router } from "#plugins/web/kit/stores/router.svelte.ts";
import { serverNow } from "#plugins/web/kit/stores/server-time.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { type EventEnvelope, socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { TitleList } from "../archive/title-list.svelte.ts";
import {
  type FolderContents,
  folderPageSize,
  type ListedChat,
  type ListedFolder,
  listPageSize,
  withMore,
  withNewest,
} from "./listed.ts";
import { SharedFolders } from "./shared-folders.svelte.ts";

const refreshPauseMs = 250;

type Bag = Record<string, unknown>;

/** One's chats as the sidebar lists them, kept up to date by the events of the server. */
export class ChatList {
  state = $state<"loading" | "ready" | "failed">("loading");
  failure = $state<string>();
  recent = $state.raw<readonly ListedChat[]>([]);
  isAll = $state(false);
  pinned = $state.raw<readonly ListedChat[]>([]);
  folders = $state.raw<readonly ListedFolder[]>([]);
  readonly shared = new SharedFolders();
  readonly contents = new SvelteMap<string, FolderContents>();
  /** Chats and folders that are on their way out; undo brings them back. */
  readonly hidden = new SvelteSet<string>();
  readonly search = new TitleList<ListedChat>(
    async ({ query, page, signal }) =>
      await server.call("GET /api/v1/chats/search", { query: { text: query, page }, signal }),
  );

  /** What was opened and closed here; an answer that is older than the click does not undo it. */
  readonly expanded = new Map<string, boolean>();

  #isStarted = false;
  #page = 1;
  #isReading = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #reads = new CurrentReads();

  /** The chat that the page shows. */
  get openId(): string | undefined {
    return matchPath("/c/:id", router.path)?.["id"];
  }

  get mayUseFolders(): boolean {
    return session.mayUse("folders");
  }

  /** Reads the list and follows what happens to it; further calls change nothing. */
  start(): void {
    if (this.#isStarted) {
      return;
    }
    this.#isStarted = true;
    socket.on<EventEnvelope>("events", (envelope) => this.#receive(envelope));
    // The first connection counts, too: an event that came before it was heard by nobody.
    socket.onConnect((isAgain) => {
      this.refreshSoon();
      if (isAgain) {
        this.#readShared();
      }
    });
    this.shared.follow();
    void this.load();
  }

  async load(): Promise<void> {
    this.state = "loading";
    this.#readShared();
    try {
      await this.refresh();
      this.state = "ready";
    } catch (error) {
      this.failure = (error as Error).message;
      this.state = "failed";
    }
  }

  /** Folders of others; the reader's own lists do not wait for them. */
  #readShared(): void {
    if (this.mayUseFolders) {
      // The next connection, or the next look at the page, reads again.
      void this.shared.refresh().catch(() => undefined);
    }
  }

  /** Reads the beginning of every list that is shown. */
  async refresh(): Promise<void> {
    const [recent, pinned, folders] = await this.#reads.read(
      async () =>
        await Promise.all([
          readPage(1),
          server.call("GET /api/v1/chats/pinned"),
          this.mayUseFolders ? server.call("GET /api/v1/folders/") : [],
        ]),
    );
    const isFirst = this.#page === 1;
    this.recent = withNewest(isFirst ? [] : this.recent, recent, listPageSize);
    this.isAll = recent.length < listPageSize || (!isFirst && this.isAll);
    this.pinned = pinned;
    this.folders = folders.map((folder) => ({
      ...folder,
      is_expanded: this.expanded.get(folder.id) ?? folder.is_expanded,
    }));
    const open = this.folders.filter(({ is_expanded: isOpen }) => isOpen);
    await Promise.allSettled(open.map(({ id }) => this.readFolder(id)));
  }

  /** Many events at once are one reading. */
  refreshSoon(): void {
    clearTimeout(this.#timer);
    // A failed reading leaves the list as it was; the next event or connection reads again.
    this.#timer = setTimeout(() => void this.refresh().catch(() => undefined), refreshPauseMs);
  }

  /** Reads on where the list ends. */
  async more(): Promise<void> {
    if (this.isAll || this.#isReading || this.state !== "ready") {
      return;
    }
    this.#isReading = true;
    try {
      const page = await readPage(this.#page + 1);
      this.recent = withMore(this.recent, page);
      this.#page += 1;
      this.isAll = page.length < listPageSize;
    } catch {
      // Scrolling asks again.
    } finally {
      this.#isReading = false;
    }
  }

  /** Reads a folder's newest chats, or those after the ones that are shown. */
  async readFolder(id: string, further = false): Promise<void> {
    const before = this.contents.get(id);
    const page = further ? Math.floor((before?.items.length ?? 0) / folderPageSize) + 1 : 1;
    const items = await this.#reads.read(
      async () => await server.call("GET /api/v1/chats/folder/:id/list", { params: { id }, query: { page } }),
    );
    const known = before?.items ?? [];
    this.contents.set(id, {
      items: further ? withMore(known, items) : withNewest(known, items, folderPageSize),
      isAll:
        items.length < folderPageSize ||
        (!further && known.length > folderPageSize && before?.isAll === true),
    });
  }

  find(id: string): ListedChat | undefined {
    const all = [this.recent, this.pinned, ...[...this.contents.values()].map(({ items }) => items)];
    return [...all, this.search.items ?? []].flat().find((chat) => chat.id === id);
  }

  /** Changes what the lists show of a chat. */
  patch(id: string, change: Partial<ListedChat>): void {
    this.#reads.changed();
    this.#mapAll((chats) =>
      chats.some((chat) => chat.id === id)
        ? chats.map((chat) => (chat.id === id ? { ...chat, ...change } : chat))
        : chats,
    );
  }

  /** Takes chats out of every list. */
  drop(ids: readonly string[]): void {
    this.#mapAll((chats) => chats.filter(({ id }) => !ids.includes(id)));
  }

  folderOf(id: string): string | null {
    const found = [...this.contents].find(([, { items }]) => items.some((chat) => chat.id === id));
    return found?.[0] ?? null;
  }

  isPinned(id: string): boolean {
    return this.pinned.some((chat) => chat.id === id);
  }

  isUnread(chat: ListedChat): boolean {
    return !chat.active && chat.id !== this.openId && chat.updated_at > (chat.last_read_at ?? 0);
  }

  /** The page shows a chat: it counts as read, in every window of its owner. */
  opened(id: string): void {
    const chat = this.find(id);
    if (!chat) {
      this.refreshSoon();
    } else if (chat.updated_at > (chat.last_read_at ?? 0)) {
      this.#markRead(id, chat.updated_at);
    }
  }

  #markRead(id: string, updatedAt: number): void {
    if (document.visibilityState === "visible") {
      this.patch(id, { last_read_at: Math.max(updatedAt, Math.floor(serverNow() / 1000)) });
      server.call("POST /api/v1/chats/:id/read", { params: { id } }).catch(() => this.refreshSoon());
    }
  }

  #receive({ chat_id: chatId, data: { type, data: raw } }: EventEnvelope): void {
    const data = (raw ?? {}) as Bag;
    const id = chatId ?? (data["chat_id"] as string | undefined);
    if (type === "chat:title" && id !== undefined) {
      const title = typeof raw === "string" ? raw : data["title"];
      if (typeof title === "string" && this.find(id)) {
        this.patch(id, { title });
      } else {
        this.refreshSoon();
      }
    } else if (type === "chat:active" && id !== undefined) {
      this.patch(id, { active: data["active"] === true });
      if (data["active"] !== true && id === this.openId) {
        this.#markRead(id, 0);
      }
      this.refreshSoon();
    } else if (type === "chat:list" && Array.isArray(data["deleted"])) {
      this.#reads.changed();
      this.drop(data["deleted"] as string[]);
    } else if (type === "chat:list") {
      if (id !== undefined && "last_read_at" in data) {
        this.patch(id, { last_read_at: data["last_read_at"] as number | null });
      }
      if (id === undefined || data["folder_id"] || !("last_read_at" in data)) {
        this.refreshSoon();
      }
    } else if (type === "chat:tags" && this.search.query.includes("tag:")) {
      void this.search.load();
    }
  }

  #mapAll(map: (chats: readonly ListedChat[]) => readonly ListedChat[]): void {
    this.recent = map(this.recent);
    this.pinned = map(this.pinned);
    if (this.search.items) {
      this.search.items = map(this.search.items);
    }
    for (const [id, { items, isAll }] of this.contents) {
      this.contents.set(id, { items: map(items), isAll });
    }
  }
}

// The list's text is made by the database; the checker knows nothing of its shape.
const readPage = async (page: number) =>
  (await server.call("GET /api/v1/chats/list", { query: { page } })) as readonly ListedChat[];

export const chatList = new ChatList();
