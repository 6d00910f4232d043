import { afterAll } from "vitest";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
process.on("uncaughtException", (error) => unhandled.push(error));

// A suite whose assertions pass while something fails in the background has not passed.
afterAll(() => {
  if (unhandled.length > 0) {
    throw new AggregateError(unhandled, `${unhandled.length} unhandled error(s) in this suite`);
  }
});
