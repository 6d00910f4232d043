import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import type { Events } from "#kernel/events.ts";
import { isUniqueViolation } from "#storage/errors.ts";
import type { Accounts, AccountSummary } from "#plugins/accounts/service.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { LeaderboardOf } from "./leaderboard.ts";
import type {
  Feedback,
  FeedbackChange,
  FeedbackFacts,
  FeedbackMeta,
  ListQuery,
  NewFeedback,
} from "./schema.ts";
import {
  changeFeedback,
  deleteFeedback,
  findFeedback,
  listFeedback,
  listModelIds,
  saveFeedback,
} from "./store.ts";
import type { FeedbackDatabase } from "./tables.ts";

export interface FeedbackParts {
  readonly db: FeedbackDatabase;
  readonly access: Access;
  readonly accounts: Pick<Accounts, "summaries" | "principalOf">;
  readonly chats: Pick<Chats, "require" | "places">;
  readonly events: Events;
  readonly leaderboard: LeaderboardOf;
  /** ENABLE_MESSAGE_RATING. */
  isOpen(): boolean;
}

export type FeedbackActions = ReturnType<typeof createFeedbackActions>;

/** What people do with their feedback, and administrators with everybody's. */
export function createFeedbackActions(parts: FeedbackParts) {
  const { db, leaderboard } = parts;
  const feedback = parts.access.loader<Feedback>({
    type: "feedback",
    find: (id) => findFeedback(db, id),
    ownerOf: (row) => row.user_id,
    // Feedback is given to administrators, so they see and remove it whatever else they may see.
    reachable: async (principal) => principal.role === "admin",
  });
  const announce = createAnnounce(parts.events);

  return {
    /** Stores what the caller thinks of a reply. Throws `not_found` for a reply of somebody else's chat. */
    async create(caller: Principal, sent: NewFeedback): Promise<Feedback> {
      requireOpen(parts);
      await requireReply(parts, caller, sent.meta);
      const { feedback: row, isNew } = await saveFeedback(db, caller.userId, sent);
      await leaderboard.changed();
      announce(isNew ? "created" : "updated", caller, row);
      return row;
    },

    read: (caller: Principal, id: string): Promise<Feedback> => feedback.load(caller, id, "read"),

    /** Replaces the parts that are sent. Throws `not_found` also when `meta` names a reply that is not the owner's. */
    async change(caller: Principal, id: string, sent: FeedbackChange): Promise<Feedback> {
      const before = await feedback.load(caller, id, "write");
      requireOpen(parts);
      if (sent.meta && !isSameReply(sent.meta, before.meta)) {
        await requireReply(parts, await ownerOf(parts, caller, before), sent.meta);
      }
      const row = await withClearConflict(() => changeFeedback(db, id, sent));
      if (row === undefined) {
        throw new AppError("not_found", "Not found");
      }
      await leaderboard.changed();
      announce("updated", caller, row);
      return row;
    },

    async remove(caller: Principal, id: string): Promise<void> {
      const row = await feedback.load(caller, id, "write");
      await deleteFeedback(db, { id });
      await leaderboard.changed();
      announce("deleted", caller, row);
    },

    /** Deletes all of an account's feedback, or everybody's. */
    async removeAll(caller: Principal, which: { userId?: string }): Promise<void> {
      const count = await deleteFeedback(db, which);
      await leaderboard.changed();
      announce("deleted_all", caller, undefined, { count, user_id: which.userId ?? null });
    },

    /** Models whose replies were rated. */
    modelIds: (): Promise<string[]> => listModelIds(db),

    async list(query: ListQuery) {
      const { rows, total } = await listFeedback(db, query);
      const people = await parts.accounts.summaries([...new Set(rows.map(({ user_id }) => user_id))]);
      return { items: rows.map((row) => withUser(row, people)), total };
    },
  };
}

function withUser(row: FeedbackFacts, people: Map<string, AccountSummary>) {
  return { ...row, user: people.get(row.user_id) ?? null };
}

function createAnnounce(events: Events) {
  return (
    event: "created" | "updated" | "deleted" | "deleted_all",
    by: Principal,
    row?: FeedbackFacts,
    data?: Record<string, unknown>,
  ) => {
    const { type, data: rated, meta } = row ?? {};
    events.announce(`feedback.${event}`, {
      actor: { id: by.userId, name: by.name, email: by.email, role: by.role },
      subject: row === undefined ? null : { type: "feedback", id: row.id },
      data: data ?? { type, data: rated, meta },
    });
  };
}

function requireOpen({ isOpen }: FeedbackParts): void {
  if (!isOpen()) {
    throw new AppError("forbidden", "Rating replies is switched off.");
  }
}

/** Throws `not_found` unless the reply stands in a chat of the owner's. */
async function requireReply(
  { chats }: FeedbackParts,
  owner: Principal,
  { chat_id: chatId, message_id: messageId }: FeedbackMeta,
): Promise<void> {
  // Nothing of a temporary chat is stored, so there is nothing that could be somebody else's.
  if (chatId.startsWith("temporary:")) {
    return;
  }
  await chats.require(owner, chatId);
  if (!(await chats.places(chatId, [messageId])).has(messageId)) {
    throw new AppError("not_found", "Message not found");
  }
}

async function ownerOf({ accounts }: FeedbackParts, caller: Principal, row: Feedback): Promise<Principal> {
  const owner = row.user_id === caller.userId ? caller : await accounts.principalOf(row.user_id);
  if (owner === undefined) {
    throw new AppError("not_found", "Chat not found");
  }
  return owner;
}

function isSameReply(a: FeedbackMeta, b: FeedbackMeta): boolean {
  return a.chat_id === b.chat_id && a.message_id === b.message_id;
}

async function withClearConflict<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isUniqueViolation(error) !== undefined) {
      throw new AppError("conflict", "There is feedback on this message already.", { cause: error });
    }
    throw error;
  }
}
