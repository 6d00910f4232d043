import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createLogger } from "#kernel/log.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { createProgress, type FileProgress, type Progress } from "./progress.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let state: FileProgress | undefined;

beforeAll(async () => {
  database = await openTestDatabase();
});

afterAll(() => database.close());

beforeEach(() => {
  state = { status: "pending" };
});

/** The progress of one process; several share the database. */
async function open(silenceMs = 60_000): Promise<Progress> {
  const listen = async (...heard: Parameters<typeof database.listen>) =>
    void (await database.listen(...heard));
  const progress = createProgress({
    notices: { notify: database.notify, listen, isHearing: database.isHearing },
    log: createLogger({ level: "CRITICAL", format: "json" }),
    read: async () => state,
    silenceMs,
  });
  await progress.start();
  return progress;
}

it("a follower hears of a change that another process announces", async () => {
  const [here, there] = [await open(), await open()];
  const steps = here.follow("a", new AbortController().signal);
  expect((await steps.next()).value).toEqual({ status: "pending" });
  const next = steps.next();
  state = { status: "failed", error: "why" };
  there.announce("b");
  there.announce("a");
  expect((await next).value).toEqual({ status: "failed", error: "why" });
  expect((await steps.next()).done).toBe(true);
});

it("a change between reading and waiting is not missed", async () => {
  const progress = await open();
  const steps = progress.follow("a", new AbortController().signal);
  await steps.next();
  state = { status: "completed" };
  progress.announce("a");
  expect((await steps.next()).value).toEqual({ status: "completed" });
});

it("a silence is told of, and ends with a look at the truth", async () => {
  const progress = await open(5);
  const steps = progress.follow("a", new AbortController().signal);
  await steps.next();
  expect(await steps.next()).toEqual({ value: undefined, done: false });
  state = { status: "completed" };
  const values: unknown[] = [];
  for await (const step of steps) {
    values.push(step);
  }
  expect(values.at(-1)).toEqual({ status: "completed" });
});

it("a follower that leaves while nothing happens is let go at once", async () => {
  const progress = await open();
  const leaving = new AbortController();
  const steps = progress.follow("a", leaving.signal);
  await steps.next();
  const next = steps.next();
  leaving.abort();
  expect((await next).done).toBe(true);
});
