import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import type { Queued } from "./types.ts";

/** A chat may be several people's, and each sends what they wrote. */
const toKey = (chat: string): string => `queue:${session.current?.id ?? ""}:${chat}`;

/** Messages of a chat that wait for the reply before them: kept over a reload, and one list for all windows. */
export class MessageQueue {
  items = $state.raw<readonly Queued[]>([]);
  #chat: string;
  /** False where nothing is kept: in temporary chats, and when the browser's storage is full. */
  #isKept: boolean;
  readonly #follow = ({ key }: StorageEvent) => {
    if (this.#isKept && key === toKey(this.#chat)) {
      this.items = read(this.#chat);
    }
  };

  constructor(chat: string, isKept: boolean) {
    this.#chat = chat;
    this.#isKept = isKept && !session.isView;
    this.items = this.#isKept ? read(chat) : [];
    addEventListener("storage", this.#follow);
  }

  close(): void {
    removeEventListener("storage", this.#follow);
  }

  push(message: Queued): void {
    this.#put([...this.#current(), message]);
  }

  /** Takes a message out, the first one when none is named; another window may have been quicker. */
  take(id?: string): Queued | undefined {
    const items = this.#current();
    const found = id === undefined ? items[0] : items.find((one) => one.id === id);
    this.#put(items.filter((one) => one !== found));
    return found;
  }

  /** The chat got another name. */
  moveTo(chat: string): void {
    if (this.#isKept && chat !== this.#chat) {
      moveQueue(this.#chat, chat);
      this.#chat = chat;
      this.items = read(chat);
    }
  }

  #current(): readonly Queued[] {
    return this.#isKept ? read(this.#chat) : this.items;
  }

  #put(items: readonly Queued[]): void {
    this.items = items;
    this.#isKept &&= write(this.#chat, items);
  }
}

/** Gives what waits in a chat that the server has made by now to it. */
export function moveQueue(from: string, to: string): void {
  const items = read(from);
  if (items.length > 0 && write(to, [...read(to), ...items])) {
    write(from, []);
  }
}

function read(chat: string): readonly Queued[] {
  try {
    const items: unknown = JSON.parse(localStorage.getItem(toKey(chat)) ?? "[]");
    return Array.isArray(items) ? items : [];
  } catch {
    return [];
  }
}

function write(chat: string, items: readonly Queued[]): boolean {
  try {
    if (items.length === 0) {
      localStorage.removeItem(toKey(chat));
    } else {
      localStorage.setItem(toKey(chat), JSON.stringify(items));
    }
    return true;
  } catch {
    return false;
  }
}
