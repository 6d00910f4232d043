import { AppError } from "#kernel/errors.ts";

/** An event of contract §3.4. */
export interface MessageEvent {
  readonly type: string;
  readonly data?: unknown;
}

/** What an event leaves behind. */
export type Kept =
  | {
      readonly kind: "list";
      readonly column: "status_history" | "sources" | "files" | "embeds";
      readonly entries: readonly unknown[];
      readonly way: "append" | "prepend" | "replace";
    }
  | { readonly kind: "text"; readonly text: string; readonly appends: boolean }
  | { readonly kind: "key"; readonly key: "followUps" | "favorite"; readonly value: unknown }
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "title"; readonly title: string }
  | { readonly kind: "tags"; readonly names: readonly string[] };

type Bag = Readonly<Record<string, unknown>>;

export const maxEventBytes = 1024 * 1024;

/** Throws `too_large` for an event that no client should have to take. */
export function requireSize({ type, data }: MessageEvent): void {
  if (Buffer.byteLength(JSON.stringify([type, data])) > maxEventBytes) {
    throw new AppError("too_large", "An event has 1 MB at most.");
  }
}

/**
 * What an event leaves in the stored message or chat; undefined for what is only shown. Throws `invalid` for data that
 * its type does not have. Long names (`chat:message:files`) are shown only, short ones (`files`) are stored as well.
 */
export function toKept({ type, data }: MessageEvent): Kept | undefined {
  return Object.hasOwn(rules, type) ? rules[type]?.(data, type) : undefined;
}

const rules: Readonly<Record<string, (data: unknown, type: string) => Kept | undefined>> = {
  status: (data, type) => ({
    kind: "list",
    column: "status_history",
    entries: [toBag(data, type)],
    way: "append",
  }),
  source: toSource,
  citation: toSource,
  files: (data, type) => {
    const files = toList(toBag(data, type)["files"], `${type}.files`);
    files.forEach((file) => void toBag(file, `${type}.files`));
    return { kind: "list", column: "files", entries: files, way: "prepend" };
  },
  embeds: (data, type) => {
    const { embeds, replace } = toBag(data, type);
    const entries = toTexts(embeds, `${type}.embeds`, maxEventBytes);
    return { kind: "list", column: "embeds", entries, way: replace === true ? "replace" : "prepend" };
  },
  message: (data, type) => ({ kind: "text", text: toContent(data, type), appends: true }),
  replace: (data, type) => ({ kind: "text", text: toContent(data, type), appends: false }),
  "chat:message:error": (data, type) => {
    const { error } = toBag(data, type);
    return {
      kind: "error",
      error: typeof error === "string" ? { content: error } : toBag(error, `${type}.error`),
    };
  },
  "chat:message:follow_ups": (data, type) => {
    const value = toTexts(toBag(data, type)["follow_ups"], `${type}.follow_ups`, 2_000);
    return { kind: "key", key: "followUps", value };
  },
  "chat:message:favorite": (data, type) => {
    const { favorite } = toBag(data, type);
    if (typeof favorite !== "boolean") {
      throw new AppError("invalid", `${type}.favorite is no boolean.`);
    }
    return { kind: "key", key: "favorite", value: favorite };
  },
  "chat:title": (data, type) => {
    const title = typeof data === "string" ? data : toBag(data, type)["title"];
    if (typeof title !== "string" || title.trim() === "" || title.length > 10_000) {
      throw new AppError("invalid", `${type} needs a title of 1 to 10,000 characters.`);
    }
    return { kind: "title", title };
  },
  "chat:tags": (data, type) => ({ kind: "tags", names: toTexts(data, type, 200) }),
};

/** A source with a type of its own (`code_execution`) belongs to the moment, not to the message. */
function toSource(data: unknown, type: string): Kept | undefined {
  const source = toBag(data, type);
  const isTyped = source["type"] !== undefined && source["type"] !== null;
  return isTyped ? undefined : { kind: "list", column: "sources", entries: [source], way: "append" };
}

function toContent(data: unknown, type: string): string {
  const { content } = toBag(data, type);
  if (typeof content !== "string") {
    throw new AppError("invalid", `${type}.content is no text.`);
  }
  return content;
}

function toBag(value: unknown, name: string): Bag {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("invalid", `${name} is no object.`);
  }
  return value as Bag;
}

const maxEntries = 100;

function toList(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value) || value.length > maxEntries) {
    throw new AppError("invalid", `${name} is no list of at most ${maxEntries} entries.`);
  }
  return value;
}

function toTexts(value: unknown, name: string, maxLength: number): string[] {
  const list = toList(value, name);
  if (!list.every((entry): entry is string => typeof entry === "string" && entry.length <= maxLength)) {
    throw new AppError("invalid", `${name} is no list of texts of at most ${maxLength} characters.`);
  }
  return list;
}
