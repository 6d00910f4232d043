/** A message as callers send it. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** Where the values of one sent message belong. */
export interface MessageFields {
  /** By column; null empties it. Columns that the message does not name are missing. */
  readonly set: Record<string, unknown>;
  /** Keys without a column, and values that no column takes. */
  readonly extra: Record<string, unknown>;
  /** Keys that have a column now and leave `extra`. */
  readonly drop: string[];
}

type Kind = "json" | "text" | "boolean";

/** Keys of the wire that have a column of their own. */
export const messageColumns: Readonly<Record<string, { readonly column: string; readonly kind: Kind }>> = {
  role: { column: "role", kind: "text" },
  content: { column: "content", kind: "json" },
  output: { column: "output", kind: "json" },
  model: { column: "model_id", kind: "text" },
  files: { column: "files", kind: "json" },
  sources: { column: "sources", kind: "json" },
  embeds: { column: "embeds", kind: "json" },
  meta: { column: "meta", kind: "json" },
  done: { column: "done", kind: "boolean" },
  statusHistory: { column: "status_history", kind: "json" },
  error: { column: "error", kind: "json" },
  usage: { column: "usage", kind: "json" },
  contextSummary: { column: "context_summary", kind: "text" },
};

/** Columns that only the run writes while a message is being generated. */
export const runColumns: ReadonlySet<string> = new Set(["content", "output", "usage", "done"]);

/** Keys that are composed from the tree and the chat's owner, and never stored. */
const composedKeys = new Set(["id", "parentId", "childrenIds", "user_id", "user"]);

/** Splits a sent message, whole or partial, so that composing gives back what was sent. */
export function splitMessage(message: WireMessage): MessageFields {
  const fields: MessageFields = { set: {}, extra: {}, drop: [] };
  for (const [key, value] of Object.entries(message)) {
    const target = Object.hasOwn(messageColumns, key) ? messageColumns[key] : undefined;
    if (composedKeys.has(key)) {
      continue;
    }
    if (target === undefined) {
      fields.extra[key] = value;
    } else if (fits(value, target.kind)) {
      fields.set[target.column] = value;
      fields.drop.push(key);
    } else {
      // A null that was sent differs from a key that was not.
      fields.set[target.column] = null;
      fields.extra[key] = value;
    }
  }
  return fields;
}

/** The columns of a message that is new: a reply that does not say so is not done (Core API, Message). */
export function splitNewMessage(message: WireMessage): MessageFields {
  const fields = splitMessage(message);
  if (fields.set["role"] === "assistant" && !("done" in message)) {
    fields.set["done"] = false;
  }
  return fields;
}

/** Epoch seconds that a message says it was written at, when they can be that. */
export function timestampOf(message: WireMessage): number | undefined {
  const { timestamp } = message;
  return typeof timestamp === "number" && Number.isSafeInteger(timestamp) && timestamp > 0 && timestamp < 1e11
    ? timestamp
    : undefined;
}

function fits(value: unknown, kind: Kind): boolean {
  return (
    value !== null &&
    value !== undefined &&
    (kind === "json" || typeof value === (kind === "text" ? "string" : kind))
  );
}
