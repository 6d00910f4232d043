import { Temporal } from "temporal-polyfill";
import { expect, test } from "vitest";
import { listMoments, listRound, pickMoments } from "./moments.ts";

const at = (name: string, zone: string) => {
  const all = listMoments(Temporal.Instant.from("2026-11-28T23:59:00Z"));
  return all.find((each) => each.name === name && each.zone === zone)?.at;
};

test("each moment is the next of its kind on the clock of its zone", () => {
  expect(at("saturday", "UTC")).toBe("2026-12-05T23:58:00Z");
  expect(at("saturday", "America/St_Johns")).toBe("2026-11-29T03:28:00Z");
  expect(at("31-december", "Pacific/Kiritimati")).toBe("2026-12-31T09:58:00Z");
  expect(at("28-february", "UTC")).toBe("2027-02-28T23:58:00Z");
  expect(at("29-february", "Europe/Berlin")).toBe("2028-02-29T22:58:00Z");
});

test("the clocks of Berlin change two minutes later, wherever the suites run", () => {
  for (const zone of ["UTC", "Pacific/Kiritimati"]) {
    expect(at("clocks-forward", zone)).toBe("2027-03-28T00:58:00Z");
    expect(at("clocks-back", zone)).toBe("2027-10-31T00:58:00Z");
  }
});

test("a round has ten moments and four zones, and four rounds have each moment in each zone", () => {
  for (const round of [0, 1, 2, 3]) {
    const listed = listRound(round);
    expect(new Set(listed.map(({ name }) => name)).size).toBe(10);
    expect(new Set(listed.map(({ zone }) => zone)).size).toBe(4);
  }
  expect(new Set(listMoments().map(({ name, zone }) => `${name} ${zone}`)).size).toBe(40);
});

test("two moments that a commit chooses are of different names and zones", () => {
  for (const first of Array.from({ length: 10 }, (_, at) => at)) {
    const [one, other] = pickMoments(listRound(1), 2, first);
    expect([one!.name === other!.name, one!.zone === other!.zone]).toEqual([false, false]);
  }
});
