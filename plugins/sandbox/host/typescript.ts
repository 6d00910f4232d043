import { SourceMap } from "node:module";
import { Worker } from "node:worker_threads";
import { SandboxError } from "#kernel/sandbox.ts";
import { type Positions, same } from "./source.ts";

/** Code that an isolate compiles, and where its parts stand in the author's source. */
export interface Code {
  readonly code: string;
  readonly positions: Positions;
}

interface Answer {
  readonly id: number;
  readonly code?: string;
  readonly map?: string;
  readonly message?: string;
  readonly line?: number;
  readonly column?: number;
  readonly isBroken?: true;
  /** The compiler broke over another source, or had no time. */
  readonly isSpared?: true;
}

const deadlineMs = 10_000;
const idleMs = 30_000;
const mostTries = 3;

/**
 * Turns TypeScript into JavaScript. Types become blanks, so that positions stay; only what is more than a type (enums,
 * parameter properties) is transformed, with a map back. Throws SandboxError of kind "syntax".
 */
export interface Stripper {
  strip(source: string): Promise<Code>;
  close(): void;
}

/** Opens the compiler, whose worker runs only while there is something to do. */
export function createStripper(): Stripper {
  const waiting = new Map<number, (answer: Answer) => void>();
  let worker: Worker | undefined;
  let serial = 0;
  let idle: NodeJS.Timeout | undefined;

  const stop = () => {
    clearTimeout(idle);
    void worker?.terminate();
    worker = undefined;
    // A worker that broke answers no more.
    for (const [id, resolve] of waiting) {
      resolve({ id, isBroken: true, isSpared: true });
    }
  };
  const start = () => {
    const started = new Worker(new URL("strip-worker.js", import.meta.url), {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    started.on("message", (answer: Answer) => waiting.get(answer.id)?.(answer));
    started.on("error", () => started === worker && stop());
    started.on("exit", () => started === worker && stop());
    started.unref();
    return started;
  };

  async function ask(source: string): Promise<Answer> {
    clearTimeout(idle);
    const asked = (worker ??= start());
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const id = ++serial;
    const deadline = setTimeout(() => resolve({ id, isBroken: true, isSpared: true }), deadlineMs);
    waiting.set(id, resolve);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    asked.postMessage({ id, source });
    const answer = await promise;
    clearTimeout(deadline);
    waiting.delete(id);
    if (answer.isBroken && asked === worker) {
      // A compiler that ran out of its bounds once gives wrong answers from then on; another may run by now.
      stop();
    } else if (waiting.size === 0) {
      idle = setTimeout(stop, idleMs).unref();
    }
    return answer;
  }

  return {
    async strip(source) {
      let answer = await ask(source);
      for (let left = mostTries; answer.isSpared && left > 1; left--) {
        answer = await ask(source);
      }
      const { code, map, message, line, column, isSpared } = answer;
      if (isSpared) {
        throw new SandboxError("timeout", "The TypeScript compiler did not come to the source.");
      }
      if (code === undefined) {
        throw new SandboxError("syntax", message ?? "The source could not be read.", { line, column });
      }
      return { code, positions: map ? toPositions(map) : same };
    },
    close: stop,
  };
}

function toPositions(encoded: string): Positions {
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, "base64").toString("utf8")));
  return (line, column) => {
    const entry = map.findEntry(line - 1, column - 1);
    return "originalLine" in entry
      ? { line: entry.originalLine + 1, column: entry.originalColumn + 1 }
      : { line, column };
  };
}
