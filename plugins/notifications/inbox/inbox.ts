import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import type { Loader } from "#kernel/access/resource.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { seconds } from "#storage/clock.ts";
import { anyOf, toJson } from "#storage/values.ts";
import type { NotificationParts } from "../parts.ts";
import { limits, type Notification } from "../schema.ts";
import type { Phrase } from "../tables.ts";

/** Most notifications of one person; the oldest go first. */
const mostKept = 500;
const keptDays = 90;
const perDay = 86_400;
const longestTitle = 200;
const longestBody = 500;

const columns = ["id", "event", "title", "body", "phrase", "path", "read_at", "created_at"] as const;

/** Something that a person shall hear of. */
export interface Notice {
  readonly userId: string;
  /** Name of the system event behind it, or `job.failed`, `connection.failed` and `disk.failed`. */
  readonly event: string;
  readonly title: string;
  readonly body: string;
  /** The words among them that are the platform's own. */
  readonly phrase?: Phrase;
  /** Page of the interface; null without one. */
  readonly path: string | null;
}

type InboxParts = Pick<NotificationParts, "db" | "access" | "hub">;

export type Inbox = ReturnType<typeof createInbox>;

/** The notification centre: each person's own list, with unread marks that all their windows share. */
export function createInbox({ db, access, hub }: InboxParts) {
  const loader = access.loader<Notification & { readonly user_id: string }>({
    type: "notification",
    find: (id) =>
      db
        .selectFrom("notification")
        .select([...columns, "user_id"])
        .where("id", "=", id)
        .executeTakeFirst(),
    ownerOf: (row) => row.user_id,
    adminPasses: false,
  });
  const countUnread = async (userId: string) => {
    const { count } = await db
      .selectFrom("notification")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("user_id", "=", userId)
      .where("read_at", "is", null)
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  /** Tells every window of a person, so that all show the same marks. */
  const tell = async (userId: string, type: string, more: object = {}) => {
    const unread = await countUnread(userId);
    hub.emit(toRoom("user", userId), "events", toEnvelope({ type, data: { unread, ...more } }));
    return { unread };
  };

  return { ...readingOf({ db, loader, countUnread, tell }), ...addingOf({ db, tell }) };
}

type Tell = (userId: string, type: string, more?: object) => Promise<{ unread: number }>;

interface Reading {
  readonly db: InboxParts["db"];
  readonly loader: Loader<Notification & { readonly user_id: string }>;
  readonly tell: Tell;
  countUnread(userId: string): Promise<number>;
}

function readingOf({ db, loader, countUnread, tell }: Reading) {
  return {
    async list(caller: Principal, { page, unread }: { page: number; unread: boolean }) {
      const rows = await db
        .selectFrom("notification")
        .select(columns)
        .where("user_id", "=", caller.userId)
        .$if(unread, (query) => query.where("read_at", "is", null))
        .orderBy("created_at", "desc")
        .orderBy("id")
        .limit(limits.page + 1)
        .offset((page - 1) * limits.page)
        .execute();
      return {
        items: rows.slice(0, limits.page),
        unread: await countUnread(caller.userId),
        has_more: rows.length > limits.page,
      };
    },

    /** Marks some or all as read; ids of others are passed over. */
    async markRead(caller: Principal, ids: readonly string[] | undefined) {
      await db
        .updateTable("notification")
        .set({ read_at: seconds() })
        .where("user_id", "=", caller.userId)
        .where("read_at", "is", null)
        .$if(ids !== undefined, (query) => query.where("id", "=", anyOf(ids ?? [])))
        .execute();
      return await tell(caller.userId, "notification:read", { ids: ids ?? null });
    },

    /** Marks as read what one kind of event said of a page, once the person has seen the page. */
    async markSeen(userId: string, { event, path }: { event: string; path: string }): Promise<void> {
      const seen = await db
        .updateTable("notification")
        .set({ read_at: seconds() })
        .where("user_id", "=", userId)
        .where("event", "=", event)
        .where("path", "=", path)
        .where("read_at", "is", null)
        .returning("id")
        .execute();
      if (seen.length > 0) {
        await tell(userId, "notification:read", { ids: seen.map(({ id }) => id) });
      }
    },

    async remove(caller: Principal, id: string) {
      await loader.load(caller, id, "write");
      await db.deleteFrom("notification").where("id", "=", id).execute();
      return await tell(caller.userId, "notification:read", { ids: [id] });
    },

    async clear(caller: Principal) {
      await db.deleteFrom("notification").where("user_id", "=", caller.userId).execute();
      return await tell(caller.userId, "notification:read", { ids: null });
    },
  };
}

function addingOf({ db, tell }: { db: InboxParts["db"]; tell: Tell }) {
  return {
    /** Stores a notice and shows it in the open windows of its person. */
    async add({ userId, event, title, body, phrase, path }: Notice): Promise<Notification> {
      const row = {
        id: randomUUID(),
        event,
        title: cut(title, longestTitle),
        body: cut(body, longestBody),
        phrase: phrase ?? null,
        path,
        read_at: null,
        created_at: seconds(),
      };
      await db
        .insertInto("notification")
        .values({ ...row, phrase: toJson(row.phrase), user_id: userId })
        .execute();
      await db
        .deleteFrom("notification")
        .where("id", "in", (eb) =>
          eb
            .selectFrom("notification")
            .select("id")
            .where("user_id", "=", userId)
            .orderBy("created_at", "desc")
            .orderBy("id")
            .offset(mostKept),
        )
        .execute();
      await tell(userId, "notification:created", { notification: row });
      return row;
    },

    async sweep(): Promise<void> {
      await db
        .deleteFrom("notification")
        .where("created_at", "<", seconds() - keptDays * perDay)
        .execute();
    },
  };
}

function cut(text: string, most: number): string {
  const flat = text.replaceAll("\0", "").trim();
  return flat.length <= most ? flat : `${flat.slice(0, most - 1).trimEnd()}…`;
}
