import { afterAll, beforeEach } from "vitest";
import { beginAtMoment } from "./clock/clock.ts";
import { clearEvidence, describeEvidence } from "./evidence.ts";
import { beginSuite, expectNothingLeft } from "./leaks/leaks.ts";
import { enterWorkerFolder } from "./leaks/run-folder.ts";

enterWorkerFolder();
beginAtMoment();
beginSuite();
afterAll(expectNothingLeft);

// Suites without isolation share the process, and with it these lists.
const shared = globalThis as { unhandledInSuite?: unknown[] };
if (shared.unhandledInSuite === undefined) {
  const unhandled: unknown[] = (shared.unhandledInSuite = []);
  process.on("unhandledRejection", (reason) => unhandled.push(reason));
  process.on("uncaughtException", (error) => unhandled.push(error));
}

// A failed test shows the requests and log lines that led to it: the reporter prints them.
beforeEach(({ onTestFailed, task }) => {
  clearEvidence();
  onTestFailed(() => void Object.assign(task.meta, { evidence: describeEvidence() }));
});

// A suite whose assertions pass while something fails in the background has not passed.
afterAll(() => {
  const unhandled = shared.unhandledInSuite?.splice(0) ?? [];
  if (unhandled.length > 0) {
    throw new AggregateError(unhandled, `${unhandled.length} unhandled error(s) in this suite`);
  }
});
