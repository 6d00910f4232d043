import { describe, expect, it } from "vitest";
import type { Json, ModuleShape } from "#kernel/sandbox.ts";
import { toFacts } from "./facts.ts";

function shapeOf(data: Record<string, Json>, more: Partial<ModuleShape> = {}): ModuleShape {
  return { functions: ["inlet"], data, header: {}, tools: {}, comments: {}, ...more };
}

describe("the header comment says what `meta` may say", () => {
  it("as texts", () => {
    const header = { priority: "7", toggle: "true", file_handler: "true", icon_url: "/i.png" };
    expect(toFacts(shapeOf({}, { header }))).toMatchObject({
      priority: 7,
      toggle: true,
      fileHandler: true,
      icon: "/i.png",
    });
  });

  it("and is overruled by it", () => {
    const header = { priority: "7", toggle: "true" };
    const meta = { priority: 1, toggle: false };
    expect(toFacts(shapeOf({ meta }, { header }))).toMatchObject({ priority: 1, toggle: false });
    expect(toFacts(shapeOf({ meta, toggle: true }, { header })).toggle).toBe(true);
  });
});

describe("capabilities", () => {
  it("name hosts, with a port or any", () => {
    const fetch = ["API.example.com", "example.com:8443", "example.com:*", "*.example.com", "[::1]:80"];
    const { capabilities } = toFacts(shapeOf({ meta: { capabilities: { fetch, storage: true } } }));
    expect(capabilities).toEqual({
      fetch: fetch.map((host) => host.toLowerCase()),
      complete: false,
      storage: true,
    });
  });

  it.each<[Json, RegExp]>([
    [{ fetch: "api.example.com" }, /capabilities\.fetch must be a list/],
    [{ fetch: ["https://api.example.com"] }, /not "https:\/\/api\.example\.com"/],
    [{ fetch: ["example.com/path"] }, /not "example\.com\/path"/],
    [{ fetch: ["*"] }, /not "\*"/],
    [{ fetch: [7] }, /not 7/],
    [{ complete: "yes" }, /capabilities\.complete must be true or false/],
    [{ storage: 1 }, /capabilities\.storage must be true or false/],
  ])("%j are refused by name", (capabilities, message) => {
    expect(() => toFacts(shapeOf({ meta: { capabilities } }))).toThrow(message);
  });
});

it("a priority that is no number is refused", () => {
  expect(() => toFacts(shapeOf({ meta: { priority: "high" } }))).toThrow(/meta\.priority must be a number/);
  expect(toFacts(shapeOf({ meta: {} })).priority).toBeUndefined();
});
