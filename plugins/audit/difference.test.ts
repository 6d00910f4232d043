import { describe, expect, it } from "vitest";
import { toKeptDifference } from "./difference.ts";

describe("toKeptDifference", () => {
  it("keeps the fields that differ", () => {
    expect(
      toKeptDifference({
        before: { name: "a", role: "user", tags: ["x"] },
        after: { name: "a", role: "admin", tags: ["x"], note: 1 },
      }),
    ).toEqual({ before: { role: "user" }, after: { role: "admin", note: 1 }, complete: true });
  });

  it("keeps one side alone, and all fields when told so", () => {
    expect(toKeptDifference({ after: { name: "a" } })).toEqual({
      before: undefined,
      after: { name: "a" },
      complete: true,
    });
    const same = { value: 1 };
    expect(toKeptDifference({ before: same, after: same, whole: true }).after).toEqual(same);
  });

  it("masks secrets at any depth and says that something is missing", () => {
    const { after, complete } = toKeptDifference({ after: { valves: { api_key: "sk-1", url: "u" } } });
    expect(after).toEqual({ valves: { api_key: "[redacted]", url: "u" } });
    expect(complete).toBe(false);
  });

  it("shortens pictures and long texts without breaking a character", () => {
    const { before, after, complete } = toKeptDifference({
      before: { image: `data:image/png;base64,${"A".repeat(5000)}` },
      after: { image: `${"x".repeat(999)}😀${"y".repeat(200_000)}` },
    });
    expect(JSON.stringify(before).length).toBeLessThan(300);
    expect((after as { image: string }).image.isWellFormed()).toBe(true);
    expect((after as { image: string }).image).toMatch(/\(\d+ characters\)$/);
    expect(complete).toBe(false);
  });
});
