import type ivm from "isolated-vm";
import { bootstrap } from "./bootstrap.ts";

/** The arguments of the bootstrap: its `$0`, `$1` and `$2` (inside/environment.js). */
export type BootArguments = readonly [send: ivm.Callback, lookup: ivm.Callback, onLoop: boolean];

/**
 * The compiled bootstrap of the first time, for every isolate of the process: all of them run under the
 * same flags. Compiling it anew was most of what the first call of an owner waited for.
 */
let compiled: ivm.ExternalCopy<ArrayBuffer> | undefined;

const origin = { filename: "<isolated-vm>" } as const;
const reference = { reference: true } as const;

/** Runs the bootstrap in a context, on a thread of its isolate. Answers a reference to the bridge's entries. */
export async function boot(
  isolate: ivm.Isolate,
  context: ivm.Context,
  args: BootArguments,
): Promise<ivm.Reference> {
  const script = keep(await isolate.compileScript(bootstrap, toOptions()));
  const start = (await script.run(context, reference)) as ivm.Reference;
  const entries = await start.apply(undefined, [...args], { result: reference });
  release(script, start);
  return entries as ivm.Reference;
}

/** The same on the event loop's own thread. */
export function bootSync(isolate: ivm.Isolate, context: ivm.Context, args: BootArguments): ivm.Reference {
  const script = keep(isolate.compileScriptSync(bootstrap, toOptions()));
  const start = script.runSync(context, reference) as ivm.Reference;
  const entries = start.applySync(undefined, [...args], { result: reference });
  release(script, start);
  return entries as ivm.Reference;
}

function toOptions(): ivm.ScriptInfo {
  return compiled === undefined
    ? { ...origin, produceCachedData: true }
    : { ...origin, cachedData: compiled };
}

function keep(script: ivm.Script & ivm.CachedDataResult): ivm.Script {
  compiled ??= script.cachedData;
  return script;
}

function release(...handles: readonly { release(): void }[]): void {
  handles.forEach((handle) => handle.release());
}
