import { afterEach, beforeEach, expect, it } from "vitest";
import { createPools, type Pools } from "./pools.ts";
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";

let pools: Pools;
let fingerprint: string;

beforeEach(() => {
  fingerprint = "";
  pools = createPools({
    tls: () => ({ ssl: true, caFile: "", fingerprint }),
    lookup: lookup as LookupFunction,
    connectTimeoutMs: 1_000,
    silenceMs: 1_000,
    max: 2,
  });
});

afterEach(() => pools.close());

const at = (href: string, isChecked = true) => pools.open({ url: new URL(href), isChecked });

it("keeps one pool per origin, way of checking and TLS settings", () => {
  const first = at("https://a.test/x");
  expect(at("https://a.test/y")).toBe(first);
  expect(at("https://a.test/", false)).not.toBe(first);
  fingerprint = "00";
  expect(at("https://a.test/")).not.toBe(first);
});

it("lets the pool go that was used longest ago", () => {
  const a = at("http://a.test/");
  const b = at("http://b.test/");
  expect(at("http://a.test/")).toBe(a);
  at("http://c.test/");
  expect([a.closed, b.closed]).toEqual([false, true]);
  expect(at("http://a.test/")).toBe(a);
});
