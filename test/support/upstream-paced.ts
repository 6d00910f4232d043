import { setTimeout as pause } from "node:timers/promises";
import type { Chunk } from "#kernel/completion/chunk.ts";
import { chunk } from "./upstream-chunks.ts";
import type { Script } from "./upstream-exchange.ts";
import { sse } from "./upstream-scripts.ts";

/** The progress of a paced reply. */
export interface PacedLog {
  /** Text, and `performance.now()` of its leaving. */
  readonly sent: { text: string; at: number }[];
  /** The text that was sent until this time. */
  until(time: number): string;
}

export function createPacedLog(): PacedLog {
  const sent: PacedLog["sent"] = [];
  return {
    sent,
    until: (time) =>
      sent
        .filter(({ at }) => at <= time)
        .map(({ text }) => text)
        .join(""),
  };
}

export interface PacedOptions {
  /** Milliseconds between two pieces, kept on average however busy the machine is. */
  readonly every: number;
  readonly log?: PacedLog;
  /** Reasoning before the reply. */
  readonly reasoning?: readonly string[];
}

/** A streamed reply in these pieces, at a steady pace. */
export function paced(pieces: readonly string[], { every, log, reasoning = [] }: PacedOptions): Script {
  return (exchange) => {
    async function* chunks(): AsyncGenerator<Chunk> {
      const started = performance.now();
      let count = 0;
      const due = async () => {
        const wait = started + (count += 1) * every - performance.now();
        if (wait > 1) {
          await pause(wait);
        }
      };
      yield chunk({ role: "assistant", content: "" });
      for (const thought of reasoning) {
        await due();
        yield chunk({ reasoning_content: thought });
      }
      for (const text of pieces) {
        await due();
        yield chunk({ content: text });
        // The consumer asks for more once the piece was written.
        log?.sent.push({ text, at: performance.now() });
      }
      yield chunk({}, { finish: "stop" });
    }
    return sse(chunks())(exchange);
  };
}

/** Pieces of text as models send them, characters of every length among them. */
export function makePieces(count: number, mark = ""): string[] {
  const words = ["stream", " über", " 日本", " 🚀", "\n", ' "quoted"', " plain", "<b>"];
  return Array.from({ length: count }, (_, at) => `${words[at % words.length]}${mark}${at}`);
}
