import { describe, expect, it } from "vitest";
import { settingKeys, sourceOf, toOwn, valueOf } from "./setting-values.ts";

describe("a setting", () => {
  it("is the person's, else the instance's, else the built-in one", () => {
    const own = { theme: "dark" };
    const instance = { theme: "light", widescreenMode: true };
    expect(valueOf({ own, instance }, "theme")).toBe("dark");
    expect(sourceOf({ own, instance }, "theme")).toBe("own");
    expect(valueOf({ own: {}, instance }, "theme")).toBe("light");
    expect(sourceOf({ own: {}, instance }, "widescreenMode")).toBe("instance");
    expect(valueOf({ own: {}, instance: {} }, "theme")).toBe("system");
    expect(sourceOf({ own: {}, instance: {} }, "theme")).toBe("built-in");
  });

  it("counts as the person's own even where the instance has the same", () => {
    expect(sourceOf({ own: { autoTags: false }, instance: { autoTags: false } }, "autoTags")).toBe("own");
  });

  it.each([
    ["theme", "sepia"],
    ["language", "no language"],
    ["textScale", 40],
    ["textScale", "large"],
    ["widescreenMode", "yes"],
    ["models", "a,b"],
    ["models", [1]],
    ["system", 7],
  ] as const)("%s passes over the value %j, which does not fit", (key, value) => {
    expect(sourceOf({ own: { [key]: value }, instance: {} }, key)).toBe("built-in");
    expect(valueOf({ own: { [key]: value }, instance: {} }, key)).toEqual(
      valueOf({ own: {}, instance: {} }, key),
    );
  });

  it("has a built-in value that fits itself", () => {
    for (const key of settingKeys) {
      const builtIn = valueOf({ own: {}, instance: {} }, key);
      expect(sourceOf({ own: { [key]: builtIn }, instance: {} }, key), key).toBe("own");
    }
  });
});

it("tells the person's own fields from the instance's in what the server answers", () => {
  const ui = { theme: "dark", widescreenMode: true };
  expect(toOwn({ ui, own: ["theme", "gone"] })).toEqual({ theme: "dark" });
});
