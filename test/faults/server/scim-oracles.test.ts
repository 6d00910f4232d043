import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compareFilters } from "#plugins/scim/filter/filter-oracle.fixture.ts";
import { comparePatches } from "#plugins/scim/patch/patch-oracle.fixture.ts";
import { type ScimClient, scimClient, startScim } from "#plugins/scim/scim.fixture.ts";
import type { App } from "#test/support/app.ts";
import { report, times } from "#test/support/faults.ts";

const seeds = Array.from({ length: times(1, 5) }, (_, at) => 1 + at);
const count = times(200, 1000);

/** SCIM agrees with two other implementations of its rules, whatever database it runs on. */
describe.each(["embedded", "server"] as const)("SCIM on a database of the kind %s", (database) => {
  let app: App;
  let provider: ScimClient;

  beforeAll(async () => {
    app = await startScim({}, { database });
    await app.admin();
    await app.user();
    provider = scimClient(app.url);
  }, 180_000);
  afterAll(() => app?.close());

  it("finds by random filters what is found in memory", { timeout: 1_800_000 }, async () => {
    let telling = 0;
    for (const seed of seeds) {
      telling += await compareFilters(provider, { seed, count: count / 2 });
    }
    const filters = seeds.length * count;
    report("SCIM", `filters on ${database}`, { filters, telling, wrong: 0, seeds: seeds.join(" ") });
    // Filters that find all or nothing would say little.
    expect(telling).toBeGreaterThan(filters * 0.4);
  });

  it("ends random PATCH sequences as scim-patch ends them", { timeout: 1_800_000 }, async () => {
    let operations = 0;
    for (const seed of seeds) {
      operations += await comparePatches(provider, { seed, count });
    }
    const sequences = seeds.length * count;
    report("SCIM", `PATCH on ${database}`, { sequences, operations, wrong: 0, seeds: seeds.join(" ") });
    expect(operations).toBeGreaterThan(sequences);
  });
});
