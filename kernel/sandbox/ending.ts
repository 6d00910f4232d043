import { withJson } from "#kernel/known-json.ts";
import { limits } from "./limits.ts";
import type { Message } from "./message.ts";
import { type CallOptions, type Json, SandboxError } from "./sandbox.ts";

/** The error that a call's last message stands for, undefined when it brings an answer. */
export function toFailure(
  realm: { toReported(kind: SandboxError["kind"], text: string | undefined): SandboxError },
  kind: string,
  text: string | undefined,
): SandboxError | undefined {
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

/** How calls that began together ended, `id kind text` in a line each (inside/bridge.js). */
export function toEndings(told: unknown): { readonly id: number; readonly message: Message }[] {
  if (typeof told !== "string" || told === "") {
    return [];
  }
  return told.split("\n").map((line) => {
    const toKind = line.indexOf(" ");
    const toText = line.indexOf(" ", toKind + 1);
    const [kind, text] = [line.slice(toKind + 1, toText), line.slice(toText + 1)];
    const message = { kind, text: text === "" ? undefined : text, name: undefined, at: undefined };
    return { id: Number(line.slice(0, toKind)), message };
  });
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
