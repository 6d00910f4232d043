import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "./database.ts";
import {
  createIdempotencyStore,
  idempotencyMigrations,
  type IdempotencyStore,
  type OwnClaim,
} from "./idempotency-store.ts";
import { openTestDatabase } from "./testing.ts";
import { seconds } from "./clock.ts";

let database: Database;
let store: IdempotencyStore;

beforeAll(async () => {
  database = await openTestDatabase([{ owner: "idempotency", migrations: idempotencyMigrations }]);
  store = createIdempotencyStore(database);
});

afterAll(() => database.close());

const answer = { status: 201, contentType: "application/json", body: "{}" };
const age = (scope: string, by: number) =>
  database.db
    .updateTable("idempotent_answer")
    .set({ created_at: seconds() - by, renewed_at: seconds() - by })
    .where("scope", "=", scope)
    .execute();

async function claim(scope: string): Promise<OwnClaim> {
  const found = await store.claim(scope);
  if (found.state !== "claimed") {
    throw new Error(`${scope} is ${found.state}`);
  }
  return found.own;
}

it("gives a scope to exactly one of many at once", async () => {
  const claims = await Promise.all(Array.from({ length: 20 }, () => store.claim("many")));
  expect(claims.filter(({ state }) => state === "claimed")).toHaveLength(1);
  expect(claims.filter(({ state }) => state === "running")).toHaveLength(19);
});

it("hands out the stored answer, and a released scope anew", async () => {
  const settled = await claim("settled");
  await store.settle(settled, "print", answer);
  expect(await store.claim("settled")).toEqual({ state: "done", fingerprint: "print", answer });
  await store.release(settled);
  expect((await store.claim("settled")).state).toBe("done");
  await store.release(await claim("failed"));
  expect((await store.claim("failed")).state).toBe("claimed");
});

it("takes over what a process that died left behind, and what is older than a day", async () => {
  await claim("abandoned");
  await age("abandoned", 60);
  expect((await store.claim("abandoned")).state).toBe("running");
  await age("abandoned", 180);
  expect((await store.claim("abandoned")).state).toBe("claimed");
  await store.settle(await claim("old"), "print", answer);
  await age("old", 23 * 3600);
  expect((await store.claim("old")).state).toBe("done");
  await age("old", 25 * 3600);
  expect((await store.claim("old")).state).toBe("claimed");
});

it("leaves a request that still runs its scope, however long it takes", async () => {
  const own = await claim("long");
  await age("long", 25 * 3600);
  await store.renew([own]);
  expect((await store.claim("long")).state).toBe("running");
  await store.sweep();
  expect((await store.claim("long")).state).toBe("running");
});

it("keeps nothing of a request that lost its scope", async () => {
  const lost = await claim("taken over");
  await age("taken over", 180);
  const own = await claim("taken over");
  await store.renew([lost]);
  await store.settle(lost, "lost", answer);
  await store.release(lost);
  expect((await store.claim("taken over")).state).toBe("running");
  await store.settle(own, "own", answer);
  expect(await store.claim("taken over")).toMatchObject({ state: "done", fingerprint: "own" });
});

it("sweeps what is older than a day, and nothing else", async () => {
  await store.settle(await claim("swept"), "print", answer);
  await age("swept", 25 * 3600);
  await store.sweep();
  const left = await database.db.selectFrom("idempotent_answer").select("scope").execute();
  expect(left.map(({ scope }) => scope)).not.toContain("swept");
  expect(left.map(({ scope }) => scope)).toContain("settled");
});
