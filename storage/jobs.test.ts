import { PgBoss } from "pg-boss";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "./database.ts";
import { describeKinds } from "./kinds.fixture.ts";
import { openTestDatabase } from "./testing.ts";

describeKinds("a job queue over the raw query", (kind) => {
  let database: Database;
  let boss: PgBoss;
  const problems: unknown[] = [];
  beforeAll(async () => {
    database = await openTestDatabase([], kind);
    boss = new PgBoss({
      db: { executeSql: (text: string, values?: unknown[]) => database.query(text, values) },
      schema: "jobs",
    });
    boss.on("error", (error) => problems.push(error));
    await boss.start();
  });
  afterAll(async () => {
    await boss.stop({ graceful: true, timeout: 2_000, close: false });
    await database.close();
    expect(problems).toEqual([]);
  });

  test("hands each job out once, with its data", async () => {
    await boss.createQueue("sample");
    const done: unknown[] = [];
    const all = Promise.withResolvers<void>();
    await boss.work("sample", { pollingIntervalSeconds: 0.5, batchSize: 5 }, async (jobs) => {
      for (const job of jobs) {
        done.push((job.data as { n: number }).n);
      }
      if (done.length === 5) {
        all.resolve();
      }
    });
    await Promise.all([1, 2, 3, 4, 5].map((n) => boss.send("sample", { n })));
    await all.promise;
    expect(done.toSorted()).toEqual([1, 2, 3, 4, 5]);
  });

  test("retries a failed job", async () => {
    await boss.createQueue("failing", { retryLimit: 2, retryDelay: 0 });
    let tries = 0;
    const good = Promise.withResolvers<void>();
    await boss.work("failing", { pollingIntervalSeconds: 0.5 }, async () => {
      tries += 1;
      if (tries < 3) {
        throw new Error("not yet");
      }
      good.resolve();
    });
    await boss.send("failing", {});
    await good.promise;
    expect(tries).toBe(3);
  });

  test("keeps one of several jobs with the same key and slot", async () => {
    await boss.createQueue("single");
    const send = () => boss.send("single", {}, { singletonKey: "one", singletonSeconds: 3600 });
    const ids = await Promise.all([send(), send(), send()]);
    expect(ids.filter((id) => id !== null)).toHaveLength(1);
  });
});
