import { limits } from "../limits.ts";
import { LruMap } from "./lru.ts";
import type { LogLine } from "#kernel/sandbox.ts";

/** The last lines that each script wrote, within bounds. */
export interface Consoles {
  write(id: string, level: string, text: string): void;
  lines(id: string): readonly LogLine[];
  forget(id: string): void;
}

export function createConsoles(): Consoles {
  const consoles = new LruMap<string, { lines: LogLine[]; characters: number }>(1000);
  return {
    write(id, level, text) {
      const kept = consoles.get(id) ?? { lines: [], characters: 0 };
      consoles.set(id, kept);
      kept.lines.push({ at: Date.now(), level: toLevel(level), text });
      kept.characters += text.length;
      while (kept.lines.length > limits.logLines || kept.characters > limits.logCharacters) {
        kept.characters -= kept.lines.shift()?.text.length ?? 0;
      }
    },
    lines: (id) => [...(consoles.get(id)?.lines ?? [])],
    forget: (id) => consoles.delete(id),
  };
}

function toLevel(level: string): LogLine["level"] {
  return level === "debug" || level === "warn" || level === "error" ? level : "info";
}
