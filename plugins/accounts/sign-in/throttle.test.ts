import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestAccounts, type TestAccounts } from "../accounts.fixture.ts";
import { createThrottle } from "./throttle.ts";

let app: TestAccounts;
beforeAll(async () => {
  app = await openTestAccounts();
});
afterAll(() => app.close());

const limits = { limits: { email: 3, user: 3, address: 3, signup: 3 }, window: 180 };

it("lets exactly the limit through, however many come at once", async () => {
  // Two throttles stand for two replicas: they share nothing but the database.
  const replicas = [createThrottle(app.db, limits), createThrottle(app.db, limits)];
  const tries = Array.from({ length: 20 }, (_, index) => replicas[index % 2]?.enter(["email:a"]));
  const outcomes = await Promise.allSettled(tries);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  const refused = outcomes.find((outcome) => outcome.status === "rejected");
  expect(refused?.reason).toMatchObject({ code: "rate_limited" });
  expect(refused?.reason.retryAfter).toBeGreaterThan(170);
  expect(refused?.reason.retryAfter).toBeLessThanOrEqual(180);
});

it("counts subjects apart, and a refused try for none of them", async () => {
  const throttle = createThrottle(app.db, limits);
  for (const email of ["email:b", "email:c", "email:d"] as const) {
    await throttle.enter([email, "address:1"]);
  }
  await expect(throttle.enter(["email:e", "address:1"])).rejects.toMatchObject({ code: "rate_limited" });
  // The refused try did not use up one of e's three.
  await throttle.enter(["email:e", "address:2"]);
  await throttle.enter(["email:e", "address:2"]);
  await throttle.enter(["email:e", "address:2"]);
  await expect(throttle.enter(["email:e", "address:3"])).rejects.toMatchObject({ code: "rate_limited" });
});

it("does not count what was given back", async () => {
  const throttle = createThrottle(app.db, limits);
  for (let round = 0; round < 10; round++) {
    await throttle.enter(["email:f"]);
    await throttle.giveBack(["email:f"]);
  }
  await throttle.enter(["email:f"]);
});

it("forgets tries that are older than the window, one by one", async () => {
  const throttle = createThrottle(app.db, limits);
  const now = Math.floor(Date.now() / 1000);
  const row = {
    subject: "email:g",
    tries: [now - 181, now - 100, now - 50],
    allowed: true,
    updated_at: now - 50,
  };
  await app.db.insertInto("sign_in_throttle").values(row).execute();
  await throttle.enter(["email:g"]);
  const refused = await throttle.enter(["email:g"]).catch((error: { retryAfter: number }) => error);
  expect(refused).toMatchObject({ code: "rate_limited" });
  expect((refused as { retryAfter: number }).retryAfter).toBeLessThanOrEqual(80);
});

it("sweeps what no longer counts and keeps the rest", async () => {
  const throttle = createThrottle(app.db, limits);
  const now = Math.floor(Date.now() / 1000);
  const old = { subject: "email:old", tries: [now - 500], allowed: true, updated_at: now - 500 };
  await app.db.insertInto("sign_in_throttle").values(old).execute();
  await throttle.enter(["email:new"]);
  await throttle.sweep();
  const rows = await app.db.selectFrom("sign_in_throttle").select("subject").execute();
  expect(rows.map(({ subject }) => subject)).toContain("email:new");
  expect(rows.map(({ subject }) => subject)).not.toContain("email:old");
});
