import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { nextRuns } from "../../plugins/automations/recurrence/next-runs.ts";
import { findDue } from "../../plugins/calendar/alerts.ts";
import { createCalendarTables } from "../../plugins/calendar/migrations/0001_calendar.ts";
import { expand, nextStart } from "../../plugins/calendar/recurrence/expand.ts";
import type { CalendarDatabase } from "../../plugins/calendar/tables.ts";
import { openDatabase } from "../../storage/database.ts";
import type { Scenario } from "../scenario.ts";
import { median } from "../synthetic.ts";

const due = 10_000;
const list = (count: number, size: number) => Array.from({ length: count }, (_, at) => at % size).join(",");
const hostile = [
  "FREQ=SECONDLY",
  "DTSTART:00010101T000000Z\nRRULE:FREQ=DAILY",
  "DTSTART:19700101T000000Z\nRRULE:FREQ=MINUTELY",
  `FREQ=DAILY;BYMINUTE=${list(10_000, 60)}`,
  `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 99 }, (_, at) => at + 1).join(",")}`,
  `FREQ=DAILY;BYHOUR=0,6,12,18;BYMINUTE=${list(60, 60)}`,
  "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
  "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
  "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;INTERVAL=1000",
];
const now = Date.UTC(2027, 2, 1);
const firstYear = new Date(0).setUTCFullYear(1, 0, 1);

/** Rules that want much work, and a look for reminders among many that are due. */
export const schedules: Scenario = {
  id: "P26",
  title: "hostile recurrence rules, and many due events",
  async run(bench) {
    const rounds = [];
    // The first is for the compiler.
    for (let round = 0; round <= bench.rounds; round += 1) {
      rounds.push(hostile.map((rule) => ({ rule, ms: timeRule(rule) })));
    }
    const slowest = rounds.slice(1).map((each) => each.toSorted((a, b) => b.ms - a.ms)[0]!);
    return [
      {
        goal: "P26",
        what: `slowest of ${hostile.length} hostile rules, for automations and calendars`,
        values: slowest.map(({ ms }) => ms),
        atMost: 50,
        unit: " ms",
        detail: slowest[0]?.rule.replace("\n", " ").slice(0, 60) ?? "",
      },
      {
        goal: "P26",
        what: `a look among ${due} events that are due, embedded`,
        values: await timeLooks(bench.rounds),
        atMost: 50,
        unit: " ms",
      },
    ];
  },
};

/** The longest of the expansions that a rule goes through; a refusal counts like an answer. */
function timeRule(rule: string): number {
  const body = rule.replace(/^DTSTART.*\n/, "");
  const zone = "Europe/Berlin";
  const anchor = now / 1_000;
  const works = [now, firstYear].flatMap((start) => {
    const series = { start, rule: body, zone, last: null };
    return [
      () => nextRuns({ rule, anchor, zone }, anchor, 5),
      // The earliest start that automations take.
      () => nextRuns({ rule: `DTSTART:19700101T000000Z\nRRULE:${body}`, anchor, zone }, anchor, 5),
      () => nextStart(series, now),
      () => expand(series, { from: now, to: now + 366 * 86_400_000, max: 1_000 }),
    ];
  });
  return Math.max(...works.map(timeOf));
}

/** CPU time, which other work of the machine does not lengthen, in milliseconds. */
function timeOf(work: () => unknown): number {
  const begun = process.cpuUsage();
  try {
    work();
  } catch {
    // Refused.
  }
  return process.cpuUsage(begun).user / 1_000;
}

async function timeLooks(rounds: number): Promise<number[]> {
  const dataDir = await mkdtemp(join(tmpdir(), "bench-schedules-"));
  const database = await openDatabase({ dataDir, disposable: true });
  try {
    await database.query('create table "user" (id text primary key)');
    await createCalendarTables.up(database.db as never);
    await database.query(`insert into "user" values ('u')`);
    await database.query(
      `insert into calendar (id, user_id, name, created_at, updated_at) values ('c', 'u', 'C', 0, 0)`,
    );
    const db = database.db as unknown as CalendarDatabase;
    const start = `${BigInt(now) * 1_000_000n}::bigint - n * 1000000000::bigint`;
    await sql
      .raw(
        `insert into calendar_event (id, calendar_id, user_id, title, start_at, rrule, next_alert_start,
          alert_minutes, created_at, updated_at)
        select 'e' || n, 'c', 'u', 'Event ' || n, ${start}, 'FREQ=DAILY', ${start},
          case when n % 2 = 0 then 30 end, 0, 0 from generate_series(1, ${due}) as n`,
      )
      .execute(db);
    await database.query("analyze calendar_event");
    const times = [];
    for (let round = 0; round < rounds; round += 1) {
      const looks = [];
      for (let turn = 0; turn < 20; turn += 1) {
        const begun = performance.now();
        await findDue(db, now, 10);
        looks.push(performance.now() - begun);
      }
      times.push(median(looks));
    }
    return times;
  } finally {
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
