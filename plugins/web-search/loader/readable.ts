import { Worker } from "node:worker_threads";
import { AppError } from "#kernel/errors.ts";
import type { ReadAnswer, ReadRequest } from "./readable-worker.ts";

export interface HtmlPage {
  readonly bytes: Uint8Array;
  readonly url: string;
  readonly charset: string | undefined;
}

/** Turns HTML into readable text. */
export interface HtmlReader {
  /** Markdown of what the page says, without its frame. Throws `invalid` for a page that cannot be read in time. */
  read(page: HtmlPage): Promise<{ readonly title: string; readonly content: string }>;
  close(): void;
}

const deadlineMs = 15_000;
const idleMs = 30_000;

/** Opens the reader, whose thread runs only while there is something to do: the event loop stays free. */
export function createHtmlReader(limits: { readonly deadlineMs?: number } = {}): HtmlReader {
  const waiting = new Map<number, (answer: ReadAnswer) => void>();
  let worker: Worker | undefined;
  let serial = 0;
  let idle: NodeJS.Timeout | undefined;

  const stop = () => {
    clearTimeout(idle);
    void worker?.terminate();
    worker = undefined;
    // A thread that was ended answers no more.
    for (const [id, resolve] of waiting) {
      resolve({ id, isBroken: true });
    }
  };
  const start = () => {
    const started = new Worker(new URL("./readable-worker.ts", import.meta.url), {
      name: "web pages",
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { maxOldGenerationSizeMb: 384 },
    });
    started.on("message", (answer: ReadAnswer) => waiting.get(answer.id)?.(answer));
    started.on("error", () => started === worker && stop());
    started.on("exit", () => started === worker && stop());
    started.unref();
    return started;
  };

  let turn: Promise<unknown> = Promise.resolve();

  /** One page at a time, so that its deadline is its own. */
  async function ask(page: HtmlPage): Promise<ReadAnswer> {
    clearTimeout(idle);
    const asked = (worker ??= start());
    const { promise, resolve } = Promise.withResolvers<ReadAnswer>();
    const id = ++serial;
    const deadline = setTimeout(stop, limits.deadlineMs ?? deadlineMs);
    waiting.set(id, resolve);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    asked.postMessage({ id, ...page } satisfies ReadRequest);
    const answer = await promise;
    clearTimeout(deadline);
    waiting.delete(id);
    idle = setTimeout(stop, idleMs);
    idle.unref();
    return answer;
  }

  return {
    async read(page) {
      const asked = turn.then(() => ask(page));
      turn = asked.catch(() => {});
      const { isBroken, title = "", content = "" } = await asked;
      if (isBroken) {
        throw new AppError("invalid", "The page could not be read: it is too large or too tangled.");
      }
      return { title, content };
    },
    close: stop,
  };
}
