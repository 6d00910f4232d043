import { createLogger } from "#kernel/log.ts";
import { createSandbox, type OpenSandbox } from "./create-sandbox.ts";
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
  /** Opens the stream hooks of some sources of one owner; failures are collected. */
  stream(
    sources: readonly string[],
    context?: unknown,
    later?: StreamLink["later"],
  ): Promise<StreamChain & { failures: string[] }>;
}

type HostFunctions = Readonly<Record<string, HostFunction>>;

/** A host that offers these functions. */
export function toHost(functions: HostFunctions): Host {
  return { names: Object.keys(functions), open: () => functions };
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
    async stream(sources, context = {}, later) {
      const failures: string[] = [];
      const links = sources.map((source, at) => ({
        script: { owner: "ana", id: `hook${at}`, source },
        shared: JSON.stringify(context),
        later,
        failed: (error: Error) => void failures.push(`${at}: ${error.message}`),
      }));
      const chain = await sandbox.openStream(links);
      return { push: (batch) => chain.push(batch), close: () => chain.close(), failures };
    },
  };
}
