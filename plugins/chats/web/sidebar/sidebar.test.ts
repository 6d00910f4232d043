import { describe, expect, it } from "vitest";
import { aroundHit, highlight, searchWords } from "./highlight.ts";
import { rowsInSight, scrollToShow, toOffsets } from "./row-window.ts";
import { monthTitle, timeGroup } from "./time-groups.ts";

describe("groups of time", () => {
  const now = new Date(2026, 10, 25, 0, 30);
  const at = (...parts: [number, number, number, number?, number?]) => new Date(...parts).getTime() / 1000;

  it("go from midnight to midnight", () => {
    expect(timeGroup(at(2026, 10, 25), now)).toBe("today");
    expect(timeGroup(at(2026, 10, 24, 23, 59), now)).toBe("yesterday");
    expect(timeGroup(at(2026, 10, 23, 23, 59), now)).toBe("week");
    expect(timeGroup(at(2026, 10, 18), now)).toBe("week");
    expect(timeGroup(at(2026, 10, 17, 23, 59), now)).toBe("2026-11");
    expect(timeGroup(at(2025, 11, 31), now)).toBe("2025-12");
  });

  it("take a clock that is ahead for today", () => {
    expect(timeGroup(at(2026, 10, 27), now)).toBe("today");
  });

  it("are called by their month, of other years with the year", () => {
    expect(monthTitle("2026-1", { locale: "en-US", now })).toBe("January");
    expect(monthTitle("2025-12", { locale: "de-DE", now })).toBe("Dezember 2025");
  });
});

describe("rows in sight", () => {
  const offsets = toOffsets([30, 40, 40, 40, 30], (height) => height);

  it("are those between top and bottom", () => {
    expect(offsets).toEqual([0, 30, 70, 110, 150, 180]);
    expect(rowsInSight(offsets, { top: 35, height: 60, spare: 0 })).toEqual({ first: 1, last: 3 });
    expect(rowsInSight(offsets, { top: 35, height: 60, spare: 100 })).toEqual({ first: 0, last: 5 });
    expect(rowsInSight([0], { top: 0, height: 60, spare: 9 })).toEqual({ first: 0, last: 0 });
  });

  it("are scrolled to from either side, and left where they are", () => {
    const view = { top: 40, height: 80, margin: 5 };
    expect(scrollToShow(offsets, 0, view)).toBe(0);
    expect(scrollToShow(offsets, 4, view)).toBe(105);
    expect(scrollToShow(offsets, 2, view)).toBeUndefined();
  });

  it("are few among ten thousand", () => {
    const many = toOffsets(Array.from({ length: 10_000 }), () => 34);
    const { first, last } = rowsInSight(many, { top: 170_000, height: 700, spare: 200 });
    expect(last - first).toBeLessThan(40);
  });
});

describe("hits of a search", () => {
  it("are beginnings of words, in whatever case", () => {
    expect(highlight("Moonlight on the moon", ["moon"])).toEqual([
      { text: "Moon", isHit: true },
      { text: "light on the ", isHit: false },
      { text: "moon", isHit: true },
    ]);
    expect(highlight("honeymoon", ["moon"])).toEqual([{ text: "honeymoon", isHit: false }]);
    expect(highlight("über Öl", ["öl"]).filter(({ isHit }) => isHit)).toEqual([{ text: "Öl", isHit: true }]);
  });

  it("stand near the beginning of what is shown of a text", () => {
    expect(aroundHit("The miller went down to the river to see the moon rise", ["moon"])).toBe(
      "…the river to see the moon rise",
    );
    expect(aroundHit("The moon rises", ["moon"])).toBe("The moon rises");
    expect(aroundHit("No such word in all of this long line", ["moon"])).toBe(
      "No such word in all of this long line",
    );
  });

  it("leave operators and exclusions out", () => {
    expect(searchWords('tag:"two words" moon -sun (a|b) folder:x')).toEqual(["moon", "a", "b"]);
    expect(highlight("<img onerror=x>", searchWords("img ("))[1]).toEqual({ text: "img", isHit: true });
  });
});
