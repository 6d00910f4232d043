import { serverNow } from "./server-time.ts";
import { session } from "./session.svelte.ts";

interface Stored<Value> {
  readonly value: Value;
  readonly at: number;
}

const prefix = "draft:";
const most = 60;
const longest = 2_000_000;

/** What is typed and not stored yet, kept by this browser for each account; the oldest make room for new ones. */
export const drafts = {
  /** The draft of a thing, such as `chat:<id>`, with the time of its last change. */
  of<Value>(thing: string): Stored<Value> | undefined {
    return session.isView ? undefined : read(toKey(thing));
  },
  /** False where the browser does not take it: leaving then loses it. */
  put(thing: string, value: unknown): boolean {
    // Words typed in a view are nobody's: none is kept, and the question before leaving would save none.
    if (session.isView) {
      return true;
    }
    const text = JSON.stringify({ value, at: serverNow() } satisfies Stored<unknown>);
    try {
      if (text.length <= longest) {
        store(toKey(thing), text);
        makeRoom(most);
        return true;
      }
    } catch {
      // A full or forbidden storage.
    }
    drafts.remove(thing);
    return false;
  },
  remove(thing: string): void {
    if (session.isView) {
      return;
    }
    try {
      localStorage.removeItem(toKey(thing));
    } catch {
      // A forbidden storage has kept nothing.
    }
  },
};

const toKey = (thing: string): string => `${prefix}${session.current?.id ?? ""}:${thing}`;

function read<Value>(key: string): Stored<Value> | undefined {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? "null") as Stored<Value> | null;
    return typeof stored?.at === "number" && stored.value !== undefined ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** A full storage keeps the newest draft alone, rather than none of it. */
function store(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    makeRoom(0);
    localStorage.setItem(key, text);
  }
}

function makeRoom(kept: number): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  if (keys.length > kept) {
    keys
      .map((key) => ({ key, at: read(key)?.at ?? 0 }))
      .toSorted((a, b) => b.at - a.at)
      .slice(kept)
      .forEach(({ key }) => localStorage.removeItem(key));
  }
}
