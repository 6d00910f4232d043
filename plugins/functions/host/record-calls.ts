import type { Host, HostFunction, Json } from "#kernel/sandbox.ts";

/** One use of `host` by code that is tried. */
export interface RecordedCall {
  /** `fetch`, `storage.set`, … */
  readonly name: string;
  /** The address, key or model that it was for. */
  readonly about: string;
  ms: number;
  /** Why it was refused or failed. */
  error: string | null;
}

const mostCalls = 200;
const longestText = 200;

/** The same host, whose uses are noted in `calls`. */
export function recordCalls(host: Host, calls: RecordedCall[]): Host {
  return {
    names: host.names,
    open: () =>
      Object.fromEntries(Object.entries(host.open()).map(([name, run]) => [name, record(name, run, calls)])),
  };
}

function record(name: string, run: HostFunction, calls: RecordedCall[]): HostFunction {
  return async (...args) => {
    const call: RecordedCall = { name, about: toAbout(args[0]), ms: 0, error: null };
    if (calls.length < mostCalls) {
      calls.push(call);
    }
    const started = performance.now();
    try {
      return await run(...args);
    } catch (error) {
      call.error = (error as Error).message;
      throw error;
    } finally {
      call.ms = performance.now() - started;
    }
  };
}

function toAbout(argument: Json | undefined): string {
  const isObject = typeof argument === "object" && argument !== null && !Array.isArray(argument);
  const named = isObject
    ? ((argument as Record<string, Json>)["model"] ?? (argument as Record<string, Json>)["type"])
    : argument;
  return (typeof named === "string" ? named : (JSON.stringify(named) ?? "")).slice(0, longestText);
}
