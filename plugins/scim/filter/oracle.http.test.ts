import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { scimClient, startScim } from "../scim.fixture.ts";
import { compareFilters } from "./filter-oracle.fixture.ts";

// Several seeds, and the embedded database as well, stand in test/faults/server/scim-oracles.test.ts.

let app: App;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
  // One account that no identity provider made.
  await app.user();
});

afterAll(() => app?.close());

it("1,000 random filters find what is found in memory", { timeout: 240_000 }, async () => {
  const telling = await compareFilters(scimClient(app.url), { seed: 27, count: 500 });
  // Filters that find all or nothing would say little.
  expect(telling).toBeGreaterThan(400);
});
