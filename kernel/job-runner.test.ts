import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestDatabase } from "#storage/testing.ts";
import { createJobRunner, type JobRunner } from "./job-runner.ts";
import { createLogger } from "./log.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let runner: JobRunner;
const ran: { data: unknown; at: number }[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  const log = createLogger({ level: "CRITICAL", format: "json" });
  runner = createJobRunner({ schema: "jobs", database, log });
  const job = { id: "note", run: async (data: unknown) => void ran.push({ data, at: performance.now() }) };
  await runner.start([{ job, plugin: "test", isEnabled: () => true }]);
});
afterAll(async () => {
  await runner.stop(50);
  await database.close();
});

it("runs a job that was queued for later as soon as it may start, before the next poll", async () => {
  const begun = performance.now();
  await runner.enqueue("note", { n: 1 }, { after: 1 });
  await runner.enqueue("note", { n: 0 });
  await expect.poll(() => ran.map(({ data }) => data)).toEqual([{ n: 0 }, { n: 1 }]);
  expect(ran[1]!.at - begun).toBeGreaterThan(900);
});
