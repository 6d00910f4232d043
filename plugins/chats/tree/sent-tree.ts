import { AppError } from "#kernel/errors.ts";
import type { WireMessage } from "./message-fields.ts";

/** One message of a sent tree; a link that was not sent is undefined. */
export interface SentMessage {
  readonly id: string;
  readonly message: WireMessage;
  readonly parentId: string | null | undefined;
  readonly childrenIds: readonly string[] | undefined;
}

/** The messages a chat object names, and the leaf it shows. */
export interface SentTree {
  readonly messages: readonly SentMessage[];
  /** Undefined when it was not sent. */
  readonly currentId: string | null | undefined;
}

/** The part of a sent chat object that holds its messages. */
export interface SentChat {
  readonly history?: Readonly<Record<string, unknown>> | null | undefined;
  readonly messages?: readonly unknown[] | null | undefined;
  readonly currentId?: string | null | undefined;
}

export interface ReadingRules {
  /** Whether messages of a flat list get an id where they have none: only where a chat is new. */
  makeId?(): string;
  /** Leaves roles that nobody knows to `normalizeMessages`. */
  readonly heal?: boolean;
}

const roles = new Set<unknown>(["user", "assistant", "system"]);
const maxIdLength = 200;

export function isRole(value: unknown): value is string {
  return roles.has(value);
}

/**
 * Reads the messages of a chat object: those of `history`, which is authoritative, else the flat legacy list as one
 * branch. Throws `invalid` with the message's name for what is no message. Core API, Chat and Message.
 */
export function readSentTree(chat: SentChat, rules: ReadingRules = {}): SentTree {
  const history = chat.history ?? undefined;
  const currentId = toCurrentId(history, chat.currentId);
  const listed = history?.["messages"];
  if (listed !== undefined && listed !== null && !isRecord(listed)) {
    throw new AppError("invalid", "history.messages is not a map from message id to message.");
  }
  const entries = Object.entries((listed as Record<string, unknown> | undefined) ?? {});
  if (entries.length > 0 || chat.messages === undefined || chat.messages === null) {
    return { messages: entries.map(([id, message]) => toSent(id, message, rules)), currentId };
  }
  const messages = readFlat(chat.messages, rules);
  // The flat list is the branch that is shown, so its end is the leaf.
  return { messages, currentId: currentId ?? messages.at(-1)?.id ?? currentId };
}

function readFlat(list: readonly unknown[], rules: ReadingRules): SentMessage[] {
  const sent: SentMessage[] = [];
  for (const [at, message] of list.entries()) {
    const id = isRecord(message) && typeof message["id"] === "string" ? message["id"] : rules.makeId?.();
    if (id === undefined) {
      throw new AppError("invalid", `Message ${at} of the list has no id.`);
    }
    const one = toSent(id, message, rules);
    sent.push({ ...one, parentId: one.parentId === undefined ? (sent.at(-1)?.id ?? null) : one.parentId });
  }
  if (new Set(sent.map(({ id }) => id)).size < sent.length) {
    throw new AppError("invalid", "Two messages of the list have the same id.");
  }
  return sent;
}

function toSent(id: string, message: unknown, { heal = false }: ReadingRules): SentMessage {
  if (id === "" || id.length > maxIdLength) {
    throw new AppError("invalid", `A message id has 1 to ${maxIdLength} characters.`);
  }
  if (!isRecord(message)) {
    throw new AppError("invalid", `The message ${id} is not an object.`);
  }
  const { id: own, parentId, childrenIds, role } = message;
  if (own !== undefined && own !== id) {
    throw new AppError("invalid", `The message ${id} says that its id is another one.`);
  }
  if (role !== undefined && !isRole(role) && !heal) {
    throw new AppError("invalid", `The message ${id} has no role that is known: user, assistant or system.`);
  }
  if (parentId !== undefined && parentId !== null && typeof parentId !== "string") {
    throw new AppError("invalid", `The message ${id} has a parentId that is no text.`);
  }
  const children = childrenIds ?? undefined;
  if (children !== undefined && !isTexts(children)) {
    throw new AppError("invalid", `The message ${id} has childrenIds that are no list of texts.`);
  }
  if (!heal) {
    requireKinds(id, message);
  }
  return { id, message, parentId: parentId as string | null | undefined, childrenIds: children };
}

/** Types of the fields of a message, which its readers rely on. Core API, Message. */
const kinds: Readonly<Record<string, readonly [is: (value: unknown) => boolean, name: string]>> = {
  content: [(value) => typeof value === "string" || Array.isArray(value), "text and no list of parts"],
  timestamp: [(value) => typeof value === "number", "number"],
  models: [isTexts, "list of texts"],
  model: [(value) => typeof value === "string", "text"],
  modelName: [(value) => typeof value === "string", "text"],
  modelIdx: [Number.isInteger, "whole number"],
  done: [(value) => typeof value === "boolean", "boolean"],
  output: [Array.isArray, "list"],
  sources: [Array.isArray, "list"],
  files: [Array.isArray, "list"],
  usage: [isRecord, "object"],
};

function requireKinds(id: string, message: WireMessage): void {
  for (const [key, [is, name]] of Object.entries(kinds)) {
    const value = message[key] ?? undefined;
    if (value !== undefined && !is(value)) {
      throw new AppError("invalid", `The message ${id} has a field ${key} that is no ${name}.`);
    }
  }
}

function toCurrentId(
  history: Readonly<Record<string, unknown>> | undefined,
  top: string | null | undefined,
): string | null | undefined {
  const sent = history?.["currentId"] === undefined ? top : history["currentId"];
  if (sent !== undefined && sent !== null && typeof sent !== "string") {
    throw new AppError("invalid", "history.currentId is not a message id.");
  }
  return sent === "" ? null : (sent as string | null | undefined);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
