import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createIdempotencyStore, idempotencyMigrations } from "#storage/idempotency-store.ts";
import type { Database } from "#storage/database.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { createIdempotency, type Idempotency, type KeyedRequest } from "./idempotency.ts";

let database: Database;
let idempotency: Idempotency;
let warnings: number;
let effects: number;
let keys = 0;

beforeAll(async () => {
  database = await openTestDatabase([{ owner: "idempotency", migrations: idempotencyMigrations }]);
  const log = { warn: () => void (warnings += 1) };
  idempotency = createIdempotency(createIdempotencyStore(database), { log, beatMs: 20 });
});
beforeEach(() => {
  [warnings, effects] = [0, 0];
});
afterAll(() => database.close());

const request = (): KeyedRequest => ({
  key: `key ${(keys += 1)}`,
  caller: undefined,
  route: "POST /things",
  fingerprint: () => "body",
});
const effect = () => ({ made: (effects += 1) });

/** As if nothing had been heard of the running requests for an hour. */
const ageAll = () =>
  database.query(
    "update idempotent_answer set created_at = created_at - 3600, renewed_at = renewed_at - 3600",
  );
const isAged = async () =>
  (
    await database.query(
      "select 1 from idempotent_answer where renewed_at < created_at + 3600 and status is null",
    )
  ).rows.length > 0;

it("a request that takes long keeps its key while it runs", async () => {
  const wanted = request();
  const finish = Promise.withResolvers<void>();
  const first = idempotency.run(wanted, async () => {
    await finish.promise;
    return effect();
  });
  const again = () => idempotency.run(wanted, effect);
  await expect(again()).rejects.toMatchObject({ code: "conflict" });
  await ageAll();
  await expect(again()).rejects.toMatchObject({ code: "conflict" });
  // Other processes know by what is stored.
  await expect.poll(isAged).toBe(false);
  finish.resolve();
  expect([await first, effects]).toEqual([{ made: 1 }, 1]);
  expect(await again()).toMatchObject({ value: Buffer.from('{"made":1}') });
});

it("an answer that cannot be stored at once neither fails the request nor gives the key back", async () => {
  const wanted = request();
  const answer = await idempotency.run(wanted, async () => {
    const made = effect();
    await database.query("alter table idempotent_answer rename to away");
    return made;
  });
  expect([answer, warnings]).toEqual([{ made: 1 }, expect.any(Number)]);
  expect(warnings).toBeGreaterThan(0);
  await database.query("alter table away rename to idempotent_answer");
  const again = () => idempotency.run(wanted, effect).catch((error: { code: string }) => error.code);
  await expect.poll(again).toMatchObject({ value: Buffer.from('{"made":1}') });
  expect(effects).toBe(1);
});

it("a request that failed gives its key back", async () => {
  const wanted = request();
  const failed = idempotency.run(wanted, () => Promise.reject(new Error("no")));
  await expect(failed).rejects.toThrow("no");
  expect(await idempotency.run(wanted, effect)).toEqual({ made: 1 });
});
