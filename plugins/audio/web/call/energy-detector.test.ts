import { expect, test } from "vitest";
import { EnergyDetector } from "./energy-detector.ts";

/** Feeds loudness by 50 ms; resolves to the changes with their times. */
function feed(
  detector: EnergyDetector,
  levels: readonly (readonly [level: number, ms: number])[],
  strictness = 1,
) {
  const changes: [string, number][] = [];
  let now = 0;
  for (const [level, ms] of levels) {
    for (const end = now + ms; now < end; now += 50) {
      const change = detector.push(level, { now, strictness });
      if (change) {
        changes.push([change, now]);
      }
    }
  }
  return changes;
}

test("begins after a fifth of a second of speech and ends after a pause", () => {
  const changes = feed(new EnergyDetector(), [
    [0.002, 1000],
    [0.1, 1200],
    [0.002, 2000],
  ]);
  expect(changes.map(([change]) => change)).toEqual(["begins", "ends"]);
  expect(changes[0]?.[1]).toBeGreaterThanOrEqual(1200);
  expect(changes[0]?.[1]).toBeLessThanOrEqual(1300);
  expect(changes[1]?.[1]).toBeGreaterThanOrEqual(3000);
});

test("takes no click and no short gap for a change", () => {
  expect(
    feed(new EnergyDetector(), [
      [0.002, 500],
      [0.5, 100],
      [0.002, 1500],
    ]),
  ).toEqual([]);
  expect(
    feed(new EnergyDetector(), [
      [0.1, 600],
      [0.002, 500],
      [0.1, 600],
      [0.002, 400],
    ]).map(([change]) => change),
  ).toEqual(["begins"]);
});

test("learns the noise of a room", () => {
  const detector = new EnergyDetector();
  feed(detector, [[0.011, 60_000]]);
  expect(feed(detector, [[0.02, 2000]])).toEqual([]);
  expect(feed(detector, [[0.2, 1000]]).map(([change]) => change)).toEqual(["begins"]);
});

test("takes louder and longer speech while a reply is heard", () => {
  expect(feed(new EnergyDetector(), [[0.02, 3000]], 2.5)).toEqual([]);
  const [change] = feed(new EnergyDetector(), [[0.2, 3000]], 2.5);
  expect(change?.[0]).toBe("begins");
  expect(change?.[1]).toBeGreaterThanOrEqual(500);
});
