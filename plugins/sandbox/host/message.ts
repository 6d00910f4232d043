import type { CallOptions, LazyMembers, SandboxError } from "#kernel/sandbox.ts";

/** Receives the messages of one call. */
export interface Receiver {
  receive(message: Message): void;
  fail(error: SandboxError): void;
  /** Holds back a line that the code wrote; without it, lines are kept as they come. */
  hold?(level: string, text: string): void;
  /** The JSON of a member of the context that the code reads; undefined when it cannot have it here. */
  member?(name: string): string | undefined;
}

/** Names and JSON of lazy members, for a thread from which they cannot be asked for (inside/call.js). */
export function toLazyLine(members: LazyMembers = {}): string {
  return Object.entries(members)
    .flatMap(([name, toText]) => [name, toText()])
    .join("\t");
}

/** A message of code: how a call ended, a host function it asks for, a timer it sets, items of a generator. */
export interface Message {
  readonly kind: string;
  readonly text: string | undefined;
  readonly name: string | number | undefined;
  readonly at: number | undefined;
}

/** The list that begins a call (inside/calls.js). */
export function toEntry(
  id: number,
  options: CallOptions,
  { args, lazyLine, isIterated = false }: { args: readonly string[]; lazyLine: string; isIterated?: boolean },
): (string | number)[] {
  const { name, shared = "", discardResult = false, host } = options;
  return [
    id,
    name,
    Number(isIterated),
    Number(discardResult),
    shared,
    lazyLine,
    host.names.join(" "),
    ...args,
  ];
}

/** The JSON of arguments. A value that is not JSON becomes null, as in lists. */
export function toArguments(args: readonly unknown[]): string[] {
  return args.map((value) => JSON.stringify(value) ?? "null");
}
