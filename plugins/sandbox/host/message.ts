import type { Later, SandboxError } from "#kernel/sandbox.ts";

/** Whoever waits for messages of one call. */
export interface Receiver {
  receive(message: Message): void;
  fail(error: SandboxError): void;
  /** Holds back a line that the code wrote; without it, lines are kept as they come. */
  hold?(level: string, text: string): void;
  /** The JSON of a member of the context that the code reads; undefined when it cannot have it here. */
  member?(name: string): string | undefined;
}

/** Members of a context for a call that cannot ask for them, as inside/call.js takes them: no JSON holds a tab. */
export function toLaterLine(later: Later = {}): string {
  return Object.entries(later)
    .flatMap(([name, toText]) => [name, toText()])
    .join("\t");
}

/** What code sends: how a call ended, a host function it asks for, a timer it sets, items of a generator. */
export interface Message {
  readonly kind: string;
  readonly text: string | undefined;
  readonly name: string | number | undefined;
  readonly at: number | undefined;
  /** Contents of messages that were left out of an answer (`withContents`). */
  readonly apart?: readonly number[];
}
