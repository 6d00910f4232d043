import { expect, it } from "vitest";
import { toNextRun } from "./job-records.ts";

const [hour, day] = [3600, 86_400];

it("names the tick that the queue takes, not the next one of a rare job", () => {
  const started = 10 * day + 100;
  expect(toNextRun(started + hour, { started, every: day, step: hour })).toBe(11 * day + 100);
  expect(toNextRun(started + hour, { started, every: hour, step: hour })).toBe(started + hour);
  expect(toNextRun(started + 15, { started, every: 15, step: 15 })).toBe(started + 15);
  expect(toNextRun(500, { started: null, every: day, step: hour })).toBe(500);
});
