import { expect, it } from "vitest";
import { PrincipalCache } from "./principal-cache.ts";

function entry(userId: string, jti = userId) {
  const principal = {
    userId,
    role: "user",
    name: "",
    email: "",
    groupIds: [],
    permissions: {},
    credential: "session",
    session: { id: jti, expiresAt: null },
  } as const;
  return { principal, validUntil: Number.POSITIVE_INFINITY, seenAt: 0 };
}

function fill(limit: number, ...keys: [key: string, userId: string][]) {
  const cache = new PrincipalCache(limit);
  for (const [key, userId] of keys) {
    cache.put(key, entry(userId, `jti-${key}`), cache.version);
  }
  return cache;
}

it("drops the least recently used entry beyond its limit", () => {
  const cache = fill(2, ["a", "u1"], ["b", "u2"]);
  cache.get("a");
  cache.put("c", entry("u3"), cache.version);
  expect([cache.get("a"), cache.get("b"), cache.get("c")].map((found) => found?.principal.userId)).toEqual([
    "u1",
    undefined,
    "u3",
  ]);
});

it("forgets every credential of an account and no other", () => {
  const cache = fill(9, ["a", "u1"], ["b", "u1"], ["c", "u2"]);
  cache.forget({ userId: "u1" });
  expect([cache.get("a"), cache.get("b")]).toEqual([undefined, undefined]);
  expect(cache.get("c")).toBeDefined();
  cache.forget({ userId: "unknown" });
  expect(cache.get("c")).toBeDefined();
});

it("forgets one session, or everything", () => {
  const cache = fill(9, ["a", "u1"], ["b", "u1"]);
  cache.forget({ jti: "jti-a" });
  expect(cache.get("a")).toBeUndefined();
  expect(cache.get("b")).toBeDefined();
  cache.forget({ all: true });
  expect(cache.get("b")).toBeUndefined();
});

it("does not keep what was read before a change", () => {
  const cache = fill(9);
  const before = cache.version;
  cache.forget({ userId: "somebody else" });
  cache.put("a", entry("u1"), before);
  expect(cache.get("a")).toBeUndefined();
});

it("replaces an entry of the same credential", () => {
  const cache = fill(9, ["a", "u1"]);
  cache.put("a", entry("u2"), cache.version);
  cache.forget({ userId: "u1" });
  expect(cache.get("a")?.principal.userId).toBe("u2");
  cache.forget({ userId: "u2" });
  expect(cache.get("a")).toBeUndefined();
});
