import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ChatRow } from "../chat-store.ts";
import type { ChatParts } from "../parts.ts";
import { inSlices, parentsFirst, showFinished, sliceBytes, toSlices, unfinished } from "../slices.ts";
import { insertMessages } from "./message-store.ts";
import { finishChat, insertHead, type NewChatFacts, planChat, type PlannedChat } from "./new-chat.ts";
import type { PreparedChat } from "./prepare-chat.ts";

/** A chat of an import that was read and checked. */
export interface ReadChat {
  readonly prepared: PreparedChat;
  readonly facts: NewChatFacts;
}

type Parts = Pick<ChatParts, "db" | "transaction">;

/**
 * Stores chats as new ones of their owner, all or none: a few kilobytes in each transaction, so that others can write
 * meanwhile. They show once all are stored.
 */
export async function storeChats(
  parts: Parts,
  owner: Principal,
  list: readonly ReadChat[],
): Promise<ChatRow[]> {
  const rows: ChatRow[] = [];
  const ids: string[] = [];
  try {
    await inSlices(
      toSlices(list.entries(), ([, one]) => sizeOf(one)),
      async (slice) => {
        const plans = slice.map(([at, one]) => plan(owner, at, one));
        ids.push(...plans.map(({ chat }) => chat.id));
        rows.push(...(await storeSlice(parts, plans)));
      },
    );
    await inSlices(
      toSlices(ids, () => 512),
      (slice) => showFinished(parts.db, slice),
    );
    return rows.map((row) => ({ ...row, meta: shown(row.meta) }));
  } catch (error) {
    await inSlices(
      toSlices(ids, () => 2048),
      (slice) => deleteChats(parts, slice),
    );
    throw error;
  }
}

function plan(owner: Principal, at: number, { prepared, facts }: ReadChat): PlannedChat {
  try {
    const hidden = { ...facts, meta: { ...facts.meta, ...unfinished } };
    return planChat(owner, { prepared, facts: hidden, heal: true });
  } catch (error) {
    throw toNamed(at, error);
  }
}

/** One long chat, or several short ones in one transaction. */
async function storeSlice({ db, transaction }: Parts, plans: readonly PlannedChat[]): Promise<ChatRow[]> {
  const [first] = plans;
  if (first === undefined || plans.length > 1 || JSON.stringify(first.sent).length <= sliceBytes) {
    return await transaction(async (tx) => {
      const rows: ChatRow[] = [];
      for (const plan of plans) {
        const row = await insertHead(tx, plan);
        await insertMessages(tx, plan.chat, plan.inserts);
        rows.push(await finishChat(tx, plan, row));
      }
      return rows;
    });
  }
  const row = await transaction((tx) => insertHead(tx, first));
  const ordered = parentsFirst(
    first.inserts.map((insert) => ({ id: insert.sent.id, insert })),
    ({ insert }) => insert.parentId,
  );
  const slices = toSlices(ordered, ({ insert }) => JSON.stringify(insert.sent.message).length);
  await inSlices(slices, (slice) =>
    insertMessages(
      db,
      first.chat,
      slice.map(({ insert }) => insert),
    ),
  );
  return [await transaction((tx) => finishChat(tx, first, row))];
}

async function deleteChats({ transaction }: Parts, ids: readonly string[]): Promise<void> {
  await transaction(async (tx) => {
    await tx
      .deleteFrom("chat")
      .where("id", "in", [...ids])
      .execute();
  });
}

function sizeOf({ prepared: { sent } }: ReadChat): number {
  return Math.min(JSON.stringify(sent).length, sliceBytes);
}

/** `meta` of a chat that shows. */
function shown(meta: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !(key in unfinished)));
}

/** The error, which says of what is wrong with a chat which one of an import it is. */
export function toNamed(at: number, error: unknown): unknown {
  return error instanceof AppError && error.code === "invalid"
    ? new AppError("invalid", `Chat ${at} of the import: ${error.message}`, { cause: error })
    : error;
}
