import { withJson } from "#kernel/known-json.ts";
import { limits } from "../limits.ts";
import type { Message } from "./message.ts";
import { type CallOptions, type Json, SandboxError } from "#kernel/sandbox.ts";

interface Reporter {
  toReported(kind: SandboxError["kind"], text: string | undefined): SandboxError;
}

/**
 * What a call's last message brings: an answer, as `read` reads it, or the error that it stands for. What cannot be read
 * is an error as well: code that changed its language may have had a part in what came.
 */
export function toOutcome(
  realm: Reporter,
  { kind, text }: Pick<Message, "kind" | "text">,
  read: (text: string | undefined) => Json | undefined,
): { readonly failure?: SandboxError; readonly answer?: Json | undefined } {
  try {
    const failure = toFailure(realm, kind, text);
    return failure ? { failure } : { answer: read(text) };
  } catch {
    return { failure: unreadable() };
  }
}

export function unreadable(): SandboxError {
  return new SandboxError("value", "The answer cannot be read: it is no JSON, or nested too deep.");
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

/** How one of the calls that began together ended. */
export interface Ending {
  readonly id: number;
  readonly message: Message;
}

/** Reads how calls that began together ended (inside/together.js), as far as it can be read. */
export function toEndings(told: readonly (string | number)[]): Ending[] {
  const endings: Ending[] = [];
  for (let at = 0; at + 3 < told.length;) {
    const [id, kind, count] = [Number(told[at]), String(told[at + 1]), Number(told[at + 2])];
    const end = at + 3 + 2 * count;
    if (!Number.isInteger(count) || count < 0 || end >= told.length) {
      break;
    }
    const apart = count > 0 ? told.slice(at + 3, end).map(Number) : [];
    const text = String(told[end]) || undefined;
    endings.push({ id, message: { kind, text, name: undefined, at: undefined, apart } });
    at = end + 1;
  }
  return endings;
}

/**
 * Puts contents of messages that were left out of an answer where they belong. `apart` has a place in the messages and one
 * in `contents` for each of them.
 */
export function withContents(
  value: Json | undefined,
  apart: readonly number[],
  contents: readonly string[],
): Json | undefined {
  const messages: unknown = (value as { messages?: unknown } | null | undefined)?.messages;
  for (let at = 0; Array.isArray(messages) && at < apart.length; at += 2) {
    const [message, content]: unknown[] = [messages[apart[at] as number], contents[apart[at + 1] as number]];
    // What tells of the places is not the code's, but what stands there may be whatever it likes.
    if (typeof message === "object" && message !== null && content !== undefined) {
      Object.assign(message, { content });
    }
  }
  return value;
}

const prototypeKey = '"__proto__":';

/**
 * Reads JSON that code made. A key that would become a prototype is left out, whoever copies the value later: long texts
 * come without (inside/bridge.js).
 */
export function fromText(
  text: string | undefined,
  { keepsJson = false }: Pick<CallOptions, "keepsJson"> = {},
): Json | undefined {
  if (text === undefined) {
    return undefined;
  }
  if (text.includes(prototypeKey)) {
    return JSON.parse(text, (key, value: unknown) => (key === "__proto__" ? undefined : value)) as Json;
  }
  const value = JSON.parse(text) as Json;
  return keepsJson && typeof value === "object" && value !== null ? withJson(value, text) : value;
}
