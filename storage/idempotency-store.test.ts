import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "./database.ts";
import { createIdempotencyStore, idempotencyMigrations, type IdempotencyStore } from "./idempotency-store.ts";
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
    .set({ created_at: seconds() - by })
    .where("scope", "=", scope)
    .execute();

it("gives a scope to exactly one of many at once", async () => {
  const claims = await Promise.all(Array.from({ length: 20 }, () => store.claim("many")));
  expect(claims.filter(({ state }) => state === "claimed")).toHaveLength(1);
  expect(claims.filter(({ state }) => state === "running")).toHaveLength(19);
});

it("hands out the stored answer, and a released scope anew", async () => {
  await store.claim("settled");
  await store.settle("settled", "print", answer);
  expect(await store.claim("settled")).toEqual({ state: "done", fingerprint: "print", answer });
  await store.release("settled");
  expect((await store.claim("settled")).state).toBe("done");
  await store.claim("failed");
  await store.release("failed");
  expect((await store.claim("failed")).state).toBe("claimed");
});

it("takes over what a process that died left behind, and what is older than a day", async () => {
  await store.claim("abandoned");
  await age("abandoned", 16 * 60);
  expect((await store.claim("abandoned")).state).toBe("claimed");
  await store.claim("old");
  await store.settle("old", "print", answer);
  await age("old", 23 * 3600);
  expect((await store.claim("old")).state).toBe("done");
  await age("old", 25 * 3600);
  expect((await store.claim("old")).state).toBe("claimed");
});

it("sweeps what is older than a day, and nothing else", async () => {
  await store.claim("swept");
  await store.settle("swept", "print", answer);
  await age("swept", 25 * 3600);
  await store.sweep();
  const left = await database.db.selectFrom("idempotent_answer").select("scope").execute();
  expect(left.map(({ scope }) => scope)).not.toContain("swept");
  expect(left.map(({ scope }) => scope)).toContain("settled");
});
