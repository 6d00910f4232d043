import { isDeeperThan } from "../hardening/size.ts";
import { limits } from "../limits.ts";
import type { Message } from "./message.ts";
import { type Json, SandboxError } from "#kernel/sandbox.ts";

interface Reporter {
  toReported(kind: SandboxError["kind"], text: string | undefined): SandboxError;
}

/**
 * Reads a call's last message: an answer, or the error that it stands for. A text that cannot be read is an error as well:
 * code that changed its language may have had a part in it.
 */
export function parseResult(
  realm: Reporter,
  { kind, text }: Pick<Message, "kind" | "text">,
): { readonly failure?: SandboxError; readonly answer?: Json | undefined } {
  try {
    const failure = toFailure(realm, kind, text);
    return failure ? { failure } : { answer: fromText(text) };
  } catch (error) {
    return { failure: error instanceof SandboxError ? error : unreadable() };
  }
}

export function unreadable(): SandboxError {
  return new SandboxError("value", "The answer cannot be read: it is no JSON.");
}

/** The error that a message stands for, undefined when it brings an answer. */
function toFailure(realm: Reporter, kind: string, text: string | undefined): SandboxError | undefined {
  if (kind === "missing") {
    return new SandboxError("missing", `The module exports no function "${text}".`);
  }
  if (kind !== "done") {
    return realm.toReported(kind === "value" ? "value" : "thrown", text);
  }
  return text !== undefined && text.length > limits.answerLength ? tooLong() : undefined;
}

export function tooLong(): SandboxError {
  return new SandboxError("value", `The answer is longer than ${limits.answerLength >> 20} MB.`);
}

const prototypeKey = '"__proto__":';

/**
 * Reads JSON that code made, which `what` names in the error about one that is nested too deep. A key that would become a
 * prototype is left out for those who copy the value later; long texts come without (inside/values.js).
 */
export function fromText(text: string | undefined, what = "The answer is"): Json | undefined {
  if (text === undefined) {
    return undefined;
  }
  requireDepth(text, what);
  return text.includes(prototypeKey)
    ? (JSON.parse(text, (key, value: unknown) => (key === "__proto__" ? undefined : value)) as Json)
    : (JSON.parse(text) as Json);
}

export function requireDepth(text: string, what: string): void {
  if (isDeeperThan(text, limits.answerDepth)) {
    throw new SandboxError("value", `${what} nested deeper than ${limits.answerDepth} levels.`);
  }
}
