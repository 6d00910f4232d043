import type { SandboxError } from "./sandbox.ts";

/** Whoever waits for messages of one call. */
export interface Receiver {
  receive(message: Message): void;
  fail(error: SandboxError): void;
  /** Holds back a line that the code wrote; without it, lines are kept as they come. */
  hold?(level: string, text: string): void;
}

/** Members of a context that are parsed when they are read, as inside/bridge.js takes them: no JSON holds a tab. */
export function toLaterLine(later: Readonly<Record<string, string>> | undefined): string {
  return later ? Object.entries(later).flat().join("\t") : "";
}

/** What code sends: how a call ended, a host function it asks for, a timer it sets, items of a generator. */
export interface Message {
  readonly kind: string;
  readonly text: string | undefined;
  readonly name: string | number | undefined;
  readonly at: number | undefined;
}
