// Takes long: it changes every control of every page, reads it after a reload, and sets it back.
import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "#test/support/browser.ts";
import { isOfNewThing, unusedExceptions } from "./support/exceptions.ts";
import { expectNone } from "./support/faults.ts";
import { isWhole } from "./support/part.ts";
import { type Platform, usePlatform } from "./support/platform.ts";
import { emptyTally, roundTrip } from "./support/round-trip.ts";
import { visitAll } from "./support/visit.ts";

// Finds controls by their roles on every page that the server lists: a new page is covered without a line here.
describe.skipIf(chromiumPath === undefined)("every control of every page", { timeout: 3_600_000 }, () => {
  let platform: Platform;
  const tally = emptyTally();

  beforeAll(async () => {
    platform = await usePlatform();
  });

  test("holds what is set", async () => {
    const faults = await visitAll(
      platform,
      "Controls",
      async (visitor, { path }) => {
        if (isOfNewThing(path)) {
          return [];
        }
        await visitor.open(path);
        return await roundTrip({ page: visitor.page, traffic: visitor.traffic, path }, tally);
      },
      { seating: platform.person },
    );
    expectNone(faults);
  });

  test("is tried, or stands in the list of exceptions with its reason", () => {
    const skipped = [...tally.skipped].map(([why, count]) => `  ${count} ${why}`).join("\n");
    process.stdout.write(`${tally.tried} controls were tried. Skipped:\n${skipped}\n`);
    expect(tally.tried).toBeGreaterThan(isWhole ? 300 : 0);
    expect(isWhole ? unusedExceptions() : []).toEqual([]);
  });
});
