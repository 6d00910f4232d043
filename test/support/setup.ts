import { afterAll } from "vitest";

// Suites without isolation share the process, and with it these lists.
const shared = globalThis as { unhandledInSuite?: unknown[] };
if (shared.unhandledInSuite === undefined) {
  const unhandled: unknown[] = (shared.unhandledInSuite = []);
  process.on("unhandledRejection", (reason) => unhandled.push(reason));
  process.on("uncaughtException", (error) => unhandled.push(error));
}

// A suite whose assertions pass while something fails in the background has not passed.
afterAll(() => {
  const unhandled = shared.unhandledInSuite?.splice(0) ?? [];
  if (unhandled.length > 0) {
    throw new AggregateError(unhandled, `${unhandled.length} unhandled error(s) in this suite`);
  }
});
