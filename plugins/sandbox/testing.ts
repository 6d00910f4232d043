import { createLogger } from "#kernel/log.ts";
import { createSandbox, type OpenSandbox } from "./create-sandbox.ts";
import { threadMs } from "./host/thread-time.ts";
import { limits } from "./limits.ts";
import type { CallOptions, Host, HostFunction, Json, StreamChain, StreamLink } from "#kernel/sandbox.ts";

/** The real sandbox, with short ways to use it. */
export interface Bench {
  readonly sandbox: OpenSandbox;
  /** What was logged. */
  readonly lines: string[];
  /** Calls `name` of a source. */
  run(
    source: string,
    options?: Partial<Omit<CallOptions, "host">> & { owner?: string; id?: string; host?: HostFunctions },
  ): Promise<Json | undefined>;
  /** Opens the stream hooks of some sources of one owner, for batches as JSON lists; failures are collected. */
  stream(
    sources: readonly string[],
    context?: unknown,
    lazyMembers?: StreamLink["lazyMembers"],
  ): Promise<{ push(batch: string): Promise<string>; close(): void; failures: string[] }>;
}

type HostFunctions = Readonly<Record<string, HostFunction>>;

/** A host that offers these functions. */
export function toHost(functions: HostFunctions): Host {
  return { names: Object.keys(functions), open: () => functions };
}

/** Watches for how many milliseconds of its own time the event loop's thread is held; other work of a machine does not count. */
export function watchLoop(everyMs = 5): { stop(): readonly number[] } {
  const held: number[] = [];
  let before = threadMs();
  const timer = setInterval(() => {
    const now = threadMs();
    held.push(now - before);
    before = now;
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return held.toSorted((a, b) => a - b);
    },
  };
}

/**
 * Widens limits for the suites of this process, which must not share it with others (`test:isolated`). The answer
 * sets them back.
 */
export function widenLimits(wider: Partial<typeof limits>): () => void {
  const before = { ...limits };
  Object.assign(limits, wider);
  return () => void Object.assign(limits, before);
}

/** Takes chunks through a chain. */
export async function pushChunks(
  chain: Pick<StreamChain, "push">,
  chunks: readonly unknown[],
): Promise<unknown[]> {
  const texts = await chain.push(chunks.map((chunk) => JSON.stringify(chunk)));
  return texts.map((text) => JSON.parse(text));
}

export function openBench(budgetMegabytes = 256): Bench {
  const lines: string[] = [];
  const log = createLogger({ level: "INFO", format: "json", stream: { write: (line) => lines.push(line) } });
  const sandbox = createSandbox({ log, budgetMegabytes: () => budgetMegabytes });
  return {
    sandbox,
    lines,
    run: (source, { owner = "ana", id = "function", name = "f", args = [], host = {}, ...more } = {}) =>
      sandbox.call({ owner, id, source }, { name, args, host: toHost(host), ...more }),
    async stream(sources, context = {}, lazyMembers) {
      const failures: string[] = [];
      const links = sources.map((source, at) => ({
        script: { owner: "ana", id: `hook${at}`, source },
        shared: JSON.stringify(context),
        lazyMembers,
        failed: (error: Error) => void failures.push(`${at}: ${error.message}`),
      }));
      const chain = await sandbox.openStream(links);
      const push = async (batch: string) => {
        const texts = (JSON.parse(batch) as unknown[]).map((chunk) => JSON.stringify(chunk));
        return `[${(await chain.push(texts)).join(",")}]`;
      };
      return { push, close: () => chain.close(), failures };
    },
  };
}
