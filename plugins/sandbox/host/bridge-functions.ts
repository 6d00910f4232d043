import ivm from "isolated-vm";
import { boot, type BootArguments, bootSync } from "./boot.ts";
import { answerPureCall } from "./pure-host-calls.ts";

const bridgeFunctions = ["adopt", "answer", "bindStreamHook", "end", "enter", "pull", "tick"] as const;

/** A function of a context that the host calls (inside/bootstrap.js). */
export type BridgeFunction = (typeof bridgeFunctions)[number];

/** Takes what the code of a context sends to the host; on the event loop's own thread the code gets the answer. */
export type Receive = (
  kind: unknown,
  id: unknown,
  text?: unknown,
  name?: unknown,
  at?: unknown,
) => string | void;

/** Where code of an owner runs; see cell.ts. */
export type Lane = "calls" | "streams";

/** A context in which the bootstrap has run (bootstrap.ts), before any code of an author does. */
export interface BootedContext {
  readonly context: ivm.Context;
  get(name: BridgeFunction): ivm.Reference;
  /** From now on `receive` is told what the code sends. */
  serve(receive: Receive): void;
  release(): void;
}

interface BootOptions {
  readonly lane: Lane;
  /** On the event loop's own thread: elsewhere the loop would wait for an isolate that it has code of its own in. */
  readonly onLoop: boolean;
}

/** Makes a context and boots it. */
export async function openContext(
  isolate: ivm.Isolate,
  { lane, onLoop }: BootOptions,
): Promise<BootedContext> {
  let receive: Receive = () => {};
  const isStreams = lane === "streams";
  // On the event loop's own thread a message is there before the entry that sent it is over.
  const send = new ivm.Callback(
    (...told: Parameters<Receive>) => receive(...told),
    isStreams ? { sync: true } : { ignored: true },
  );
  const args: BootArguments = [send, new ivm.Callback(answerPureCall, { sync: true }), isStreams];
  const reference = { reference: true } as const;
  const context = onLoop ? isolate.createContextSync() : await isolate.createContext();
  const bridge = onLoop ? bootSync(isolate, context, args) : await boot(isolate, context, args);
  const get = (name: BridgeFunction) =>
    onLoop ? bridge.getSync(name, reference) : bridge.get(name, reference);
  const found = (await Promise.all(bridgeFunctions.map(get))) as ivm.Reference[];
  bridge.release();
  const byName = new Map(bridgeFunctions.map((name, at) => [name, found[at] as ivm.Reference]));
  return {
    context,
    get: (name) => byName.get(name) as ivm.Reference,
    serve(receiver) {
      receive = receiver;
    },
    release() {
      found.forEach((each) => each.release());
      context.release();
    },
  };
}
