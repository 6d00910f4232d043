import type { Attachment } from "#plugins/web/kit/web.ts";

/** What is typed for a chat and not sent. */
export interface Draft {
  readonly text: string;
  /** Stored files alone: what is still on its way cannot be taken up again. */
  readonly files: readonly Attachment[];
}

interface Stored extends Draft {
  readonly at: number;
}

const prefix = "draft:";
const most = 40;
const longest = 100_000;

/** Drafts that this browser keeps, by chat; the oldest make room for new ones. */
export const drafts = {
  of(chat: string): Draft | undefined {
    const stored = read(prefix + chat);
    return stored && { text: stored.text, files: stored.files };
  },
  put(chat: string, { text, files }: Draft): void {
    if ((text.trim() === "" && files.length === 0) || text.length > longest) {
      drafts.remove(chat);
      return;
    }
    try {
      localStorage.setItem(prefix + chat, JSON.stringify({ text, files, at: Date.now() } satisfies Stored));
      makeRoom();
    } catch {
      // A full or forbidden storage costs the memory, not the message.
    }
  },
  remove(chat: string): void {
    try {
      localStorage.removeItem(prefix + chat);
    } catch {
      // Nothing was kept then.
    }
  },
};

function read(key: string): Stored | undefined {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? "null") as Stored | null;
    return typeof stored?.text === "string" && Array.isArray(stored.files) ? stored : undefined;
  } catch {
    return undefined;
  }
}

function makeRoom(): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  if (keys.length > most) {
    keys
      .map((key) => ({ key, at: read(key)?.at ?? 0 }))
      .toSorted((a, b) => b.at - a.at)
      .slice(most)
      .forEach(({ key }) => localStorage.removeItem(key));
  }
}
