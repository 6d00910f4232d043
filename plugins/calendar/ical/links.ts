import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { requireStored } from "../calendars.ts";
import type { CalendarParts } from "../parts.ts";
import type { CalendarRow } from "../tables.ts";
import { writeCalendar } from "./exchange.ts";

/** Readings of one link, and wrong ones from one address, within a minute of one process. */
const mostReadings = 30;
const mostWrong = 30;
const windowMs = 60_000;
const mostSubjects = 10_000;

export type Links = ReturnType<typeof createLinks>;

/** A subscription link as its maker sees it; times are epoch seconds. */
export interface Link {
  readonly created_at: number;
  readonly last_used_at: number | null;
}

/**
 * Links by which other programs read a calendar without a sign-in. Only the digest of the secret is kept, and the rights
 * of whoever made the link are looked at with every reading: a link ends with them.
 */
export function createLinks(parts: CalendarParts, isEnabled: () => boolean) {
  return { ...createActions(parts), ...createReading(parts, isEnabled) };
}

function createActions({ db, calendars }: CalendarParts) {
  const own = (caller: Principal, id: string) =>
    db
      .selectFrom("calendar_link")
      .selectAll()
      .where("calendar_id", "=", id)
      .where("user_id", "=", caller.userId);
  return {
    async find(caller: Principal, id: string): Promise<Link | null> {
      requireStored(id);
      await calendars.load(caller, id, "read");
      const row = await own(caller, id).executeTakeFirst();
      return row === undefined ? null : { created_at: row.created_at, last_used_at: row.last_used_at };
    },

    /** Makes the caller's link to a calendar; an earlier one ends. The path is told this once. */
    async create(caller: Principal, id: string): Promise<Link & { path: string }> {
      requireStored(id);
      await calendars.load(caller, id, "read");
      const secret = randomBytes(32).toString("base64url");
      const row = {
        id: randomUUID(),
        calendar_id: id,
        user_id: caller.userId,
        token_hash: digest(secret).toString("hex"),
        created_at: seconds(),
        last_used_at: null,
      };
      await db
        .insertInto("calendar_link")
        .values(row)
        .onConflict((conflict) => conflict.columns(["calendar_id", "user_id"]).doUpdateSet(row))
        .execute();
      const path = `/api/v1/calendars/subscribe/${row.id}/${secret}.ics`;
      return { path, created_at: row.created_at, last_used_at: null };
    },

    async revoke(caller: Principal, id: string): Promise<void> {
      requireStored(id);
      await calendars.load(caller, id, "read");
      await db
        .deleteFrom("calendar_link")
        .where("calendar_id", "=", id)
        .where("user_id", "=", caller.userId)
        .execute();
    },
  };
}

function createReading(parts: CalendarParts, isEnabled: () => boolean) {
  const { db, accounts, calendars } = parts;
  const readings = createWindow(mostReadings);
  const wrong = createWindow(mostWrong);

  /** The calendar of a pair of id and secret, while its maker may read it. */
  async function open({ link, token }: { link: string; token: string }): Promise<CalendarRow | undefined> {
    const row = await db.selectFrom("calendar_link").selectAll().where("id", "=", link).executeTakeFirst();
    // Digests have one length, and an unknown id takes the comparison as well.
    const isRight = timingSafeEqual(
      digest(token),
      Buffer.from(row?.token_hash ?? digest("").toString("hex"), "hex"),
    );
    const maker = row && isRight ? await accounts.principalOf(row.user_id) : undefined;
    if (row === undefined || maker === undefined || !hasPermission(maker, "features.calendar")) {
      return undefined;
    }
    return await calendars.load(maker, row.calendar_id, "read").catch((error: unknown) => {
      if (error instanceof AppError) {
        return undefined;
      }
      throw error;
    });
  }

  return {
    /** The file behind a link, without people. Throws `not_found` for any other pair, `rate_limited` for too many. */
    async read(pair: { link: string; token: string }, address: string): Promise<string> {
      if (!isEnabled()) {
        throw new AppError("forbidden", "Calendars are switched off.");
      }
      wrong.require(address);
      const calendar = await open(pair);
      if (calendar === undefined) {
        wrong.count(address);
        throw new AppError("not_found", "Calendar not found");
      }
      readings.require(pair.link);
      readings.count(pair.link);
      await db
        .updateTable("calendar_link")
        .set({ last_used_at: seconds() })
        .where("id", "=", pair.link)
        .execute();
      return await writeCalendar(parts, calendar, { withPeople: false });
    },
  };
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Counts events of subjects, such as addresses, within a minute; beyond 10,000 subjects the oldest goes. */
function createWindow(most: number) {
  const windows = new Map<string, { until: number; events: number }>();
  return {
    require(subject: string): void {
      const window = windows.get(subject);
      const left = (window?.until ?? 0) - Date.now();
      if (window !== undefined && left > 0 && window.events >= most) {
        const retryAfter = Math.ceil(left / 1_000);
        throw new AppError("rate_limited", "Too many requests. Wait a minute.", { retryAfter });
      }
    },
    count(subject: string): void {
      const window = windows.get(subject);
      if (window !== undefined && window.until > Date.now()) {
        window.events += 1;
        return;
      }
      windows.delete(subject);
      if (windows.size >= mostSubjects) {
        windows.delete(windows.keys().next().value as string);
      }
      windows.set(subject, { until: Date.now() + windowMs, events: 1 });
    },
  };
}
