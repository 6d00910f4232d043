import { findMessages, type MessageRow } from "./rows/messages.ts";
import { type Reaction, reactionsOf } from "./rows/reactions.ts";
import type { ChannelParts } from "./parts.ts";
import type { Bag } from "./tables.ts";

/** The author of a message as it is shown. */
export interface ShownAuthor {
  readonly id: string | null;
  readonly name: string;
  /** `user`, `admin`, `app`, `webhook`, or `model`; null for an account that is gone. */
  readonly role: string | null;
}

/** A file of a message as its clients named it. */
export interface ShownFile {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly content_type: string | null;
  readonly size: number | null;
}

/** A message on the wire (contract §8); `files` are those of `data`. */
export interface ShownMessage extends Omit<MessageRow, "writing_until" | "data"> {
  readonly data: Bag | null | boolean;
  readonly files: readonly ShownFile[];
  readonly reactions: readonly Reaction[];
  readonly user: ShownAuthor;
  readonly reply_to_message: { id: string; content: string; user: ShownAuthor } | null;
}

/** Shows rows of one channel; `hidesData` puts a boolean in the place of `data`, as lists do. */
export async function showMessages(
  { db, accounts }: Pick<ChannelParts, "db" | "accounts">,
  rows: readonly MessageRow[],
  { hidesData }: { hidesData: boolean },
): Promise<ShownMessage[]> {
  const [first] = rows;
  if (first === undefined) {
    return [];
  }
  const [reactions, quoted] = await Promise.all([
    reactionsOf(
      db,
      rows.map(({ id }) => id),
    ),
    findMessages(
      db,
      first.channel_id,
      rows.flatMap((row) => row.reply_to_id ?? []),
    ),
  ]);
  const people = await accounts.summaries([
    ...new Set([...rows, ...quoted.values()].flatMap((row) => row.user_id ?? [])),
  ]);
  const toAuthor = (row: MessageRow) => toShownAuthor(row, people.get(row.user_id ?? ""));
  return rows.map(({ writing_until: _lease, data, ...row }) => {
    const reply = row.reply_to_id === null ? undefined : quoted.get(row.reply_to_id);
    return {
      ...row,
      data: hidesData ? data !== null && Object.keys(data).length > 0 : data,
      files: filesOf(data),
      reactions: reactions.get(row.id) ?? [],
      user: toAuthor({ ...row, data, writing_until: null }),
      reply_to_message: reply
        ? { id: reply.id, content: reply.content.slice(0, 500), user: toAuthor(reply) }
        : null,
    };
  });
}

export async function showMessage(
  parts: Pick<ChannelParts, "db" | "accounts">,
  row: MessageRow,
): Promise<ShownMessage> {
  const [shown] = await showMessages(parts, [row], { hidesData: false });
  return shown as ShownMessage;
}

function toShownAuthor(
  { user_id: userId, meta }: MessageRow,
  account: { name: string; role: string } | undefined,
): ShownAuthor {
  const webhook = meta?.["webhook"] as { id?: unknown; name?: unknown } | undefined;
  if (webhook !== undefined) {
    return { id: String(webhook.id), name: String(webhook.name), role: "webhook" };
  }
  if (typeof meta?.["model_id"] === "string") {
    return { id: meta["model_id"], name: String(meta["model_name"] ?? meta["model_id"]), role: "model" };
  }
  const app = meta?.["app"] as { name?: unknown } | undefined;
  if (app !== undefined) {
    // The words of an app keep its name when it is deleted.
    return { id: userId, name: account?.name ?? String(app.name), role: "app" };
  }
  return account
    ? { id: userId, name: account.name, role: account.role }
    : { id: null, name: "Deleted account", role: null };
}

/** The files that a message's `data` names, as far as they have ids. */
export function filesOf(data: Bag | null): ShownFile[] {
  const files = data?.["files"];
  return (Array.isArray(files) ? (files as Bag[]) : []).flatMap((file) =>
    typeof file?.["id"] === "string"
      ? [
          {
            id: file["id"],
            type: typeof file["type"] === "string" ? file["type"] : "file",
            name: typeof file["name"] === "string" ? file["name"] : file["id"],
            content_type: typeof file["content_type"] === "string" ? file["content_type"] : null,
            size: typeof file["size"] === "number" ? file["size"] : null,
          },
        ]
      : [],
  );
}
