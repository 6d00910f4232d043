import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { sql } from "kysely";
import { nextRuns } from "#plugins/automations/recurrence/next-runs.ts";
import { createClaims } from "#plugins/automations/scheduler/claims.ts";
import { replan } from "#plugins/automations/scheduler/replan.ts";
import type { AutomationDatabase, Transact } from "#plugins/automations/tables.ts";
import { type App, startApp } from "#test/support/app.ts";
import { report, times } from "#test/support/faults.ts";

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const step = times(15, 1) * minute;
const zone = "Europe/Berlin";
const rule = "FREQ=DAILY;BYHOUR=2;BYMINUTE=30";

let app: App;
let db: AutomationDatabase;
let transaction: Transact;
let claims: ReturnType<typeof createClaims>;

beforeAll(async () => {
  // Its own scheduler rests: this suite holds the clock.
  app = await startApp({ env: { ENABLE_AUTOMATIONS: "false" } });
  db = app.running.database.db as unknown as AutomationDatabase;
  transaction = ((work: Parameters<Transact>[0]) => db.transaction().execute(work as never)) as Transact;
  claims = createClaims({ db, transaction, owner: "clock" });
});
afterAll(() => app?.close());
beforeEach(() => vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(async () => {
  vi.useRealTimers();
  await sql`delete from automation`.execute(db);
});

/** An automation that was written at this time. */
async function plan(at: number): Promise<void> {
  vi.setSystemTime(at);
  const anchor = at / 1_000;
  const [next] = nextRuns({ rule, anchor, zone }, anchor, 1);
  const data = JSON.stringify({ prompt: "p", model_id: "m", rrule: rule });
  await sql`insert into automation values ('a', 'u', null, 'A', ${data}, null, true, ${anchor}, ${zone}, null, ${next}, ${anchor}, ${anchor})`.execute(
    db,
  );
}

const localDay = (slot: number) =>
  new Date(slot * 1_000).toLocaleDateString("en-CA", { timeZone: zone, dateStyle: "short" });

/** Lets the clock run from one time to another, and looks as the scheduler does; resolves to the slots that ran. */
async function live(from: number, to: number): Promise<number[]> {
  const ran: number[] = [];
  for (let at = from; at <= to; at += step) {
    vi.setSystemTime(at);
    await replan(transaction, 100);
    for (const claim of await claims.due(20)) {
      ran.push(Number(claim.slot));
      await claims.end(claim, { chatId: null, error: null });
    }
  }
  return ran;
}

/** Promise R7: once for each local day, whatever the clocks do. */
it.each([
  ["spring", "2027-03-26T12:00:00Z"],
  ["autumn", "2027-10-29T12:00:00Z"],
])("half past two comes once a day over the change of %s", async (season, start) => {
  const from = Date.parse(start);
  await plan(from);
  const days = (await live(from, from + 4 * day)).map(localDay);
  report("R7", `02:30 over the change of ${season}`, {
    runs: `${days.length} (goal 4)`,
    doubles: `${days.length - new Set(days).size} (goal 0)`,
  });
  expect(days).toHaveLength(4);
  expect(new Set(days).size).toBe(4);
});

it("a clock an hour ahead, thirty days back, and a host asleep for three days bring no storm", async () => {
  const from = Date.parse("2027-05-01T12:00:00Z");
  await plan(from);
  const normal = await live(from, from + 2 * day);
  const [ahead, ...none] = await live(from + 2 * day + 12 * hour + hour, from + 3 * day);
  expect(none).toEqual([]);
  // Three of these days run again on the wall clock: what has run stays done, and what has not comes once.
  const before = new Set([...normal, ahead]);
  const back = await live(from - 30 * day, from - 27 * day);
  const again = await live(from - 1 * day, from + 3 * day);
  const asleep = await live(from + 6 * day, from + 6 * day + hour);
  const all = [...before, ...back, ...again, ...asleep];
  report("R7", "clock +1 h, -30 d, host asleep 3 days", {
    "runs of 3 days after -30 d": `${back.length} (goal 3)`,
    "runs to catch up": `${asleep.length} (goal at most 1)`,
    doubles: `${all.length - new Set(all).size} (goal 0)`,
  });
  expect([normal.length, ahead !== undefined, back.length, asleep.length]).toEqual([2, true, 3, 1]);
  expect(new Set(all).size).toBe(all.length);
});
