import type { LookupFunction } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEgress } from "#test/support/egress.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { json } from "#test/support/upstream-scripts.ts";
import type { Egress } from "./egress.ts";

let upstream: Upstream;
let egress: Egress;
let allowed: string[];

beforeEach(async () => {
  upstream = await startUpstream();
  allowed = [];
  egress = open();
});

afterEach(async () => {
  await egress.close();
  await upstream.close();
});

function open(lookup?: LookupFunction): Egress {
  return openEgress({ allowedPrivateOrigins: () => allowed, ...(lookup && { lookup }) });
}

/** Names resolve to what the queue says, call by call; the last entry stays. */
function lookupOf(...answers: string[][]): LookupFunction & { calls: number } {
  const lookup = ((_name, options, callback) => {
    const addresses = answers[Math.min(lookup.calls++, answers.length - 1)]!;
    const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    process.nextTick(() =>
      options.all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family),
    );
  }) as LookupFunction & { calls: number };
  lookup.calls = 0;
  return lookup;
}

describe("addresses that users choose", () => {
  const private_ = [
    "http://127.0.0.1:8080/",
    "http://0.0.0.0/",
    "http://10.1.2.3/",
    "http://169.254.169.254/latest/meta-data",
    "http://168.63.129.16/",
    "http://100.64.0.1/",
    "http://[::1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002::]/",
    "https://[fd00::]/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://127.0.0.1./",
  ];

  it.each(private_)("refuses %s", async (url) => {
    await expect(egress.fetch(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
    await expect(egress.request(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
  });

  it("refuses a name that resolves to a private address", async () => {
    const url = `http://localhost:${new URL(upstream.url).port}/v1/x`;
    await expect(egress.fetch(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
    await expect(egress.request(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
    expect(upstream.openSockets()).toBe(0);
    upstream.always("/x", json("there"));
    expect(await (await egress.fetch(url, { trust: "operator" })).json()).toBe("there");
    // The connection that an operator's request left open is not one that a user's request may use.
    await expect(egress.fetch(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
    expect(upstream.requests).toHaveLength(1);
  });

  it("refuses a name with one private address among public ones", async () => {
    const mixed = open(lookupOf(["8.8.8.8", "127.0.0.1"]));
    const url = `http://mixed.test:${new URL(upstream.url).port}/`;
    await expect(mixed.fetch(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
    expect(upstream.openSockets()).toBe(0);
    await mixed.close();
  });

  it("checks the resolution that it connects to, each time", async () => {
    // 2000::1 is public and unused: that attempt is let through, and ends in the network.
    const lookup = lookupOf(["2000::1"], ["127.0.0.1"]);
    const rebound = open(lookup);
    const url = `http://rebind.test:${new URL(upstream.url).port}/`;
    const first = await rebound.fetch(url, { trust: "user", timeoutMs: 300 }).catch((error) => error);
    expect(["upstream", "timeout"]).toContain(first.code);
    await rebound.close();
    const again = open(lookup);
    await expect(again.request(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
    expect(lookup.calls).toBe(2);
    expect(upstream.openSockets()).toBe(0);
    await again.close();
  });

  it("lets through the origins that settings or the call allow, live and by port", async () => {
    upstream.always("/x", json("there"));
    const url = `${upstream.url}/x`;
    allowed = [`${upstream.origin}/`];
    expect(await (await egress.fetch(url, { trust: "user" })).json()).toBe("there");
    allowed = ["http://127.0.0.1:1", "nonsense"];
    await expect(egress.fetch(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
    const answer = await egress.request(url, { trust: "user", allowedOrigins: [upstream.origin] });
    expect(await text(answer.body)).toBe('"there"');
  });

  it("does not let a user name the site of an allowed address", async () => {
    upstream.always("/x", json({}));
    const init = { headers: { host: "other.test" }, allowedOrigins: [upstream.origin] };
    await egress.fetch(`${upstream.url}/x`, { ...init, trust: "user" });
    await (await egress.request(`${upstream.url}/x`, { ...init, trust: "operator" })).body.resume();
    expect(upstream.requests.map(({ headers }) => headers["host"])).toEqual([
      new URL(upstream.url).host,
      "other.test",
    ]);
  });

  it.each([
    ["file:///etc/passwd", "forbidden"],
    ["ftp://example.com/", "forbidden"],
    ["data:text/plain,x", "forbidden"],
    ["not a url", "invalid"],
    ["http://", "invalid"],
  ])("refuses %s", async (url, code) => {
    await expect(egress.fetch(url, { trust: "operator" })).rejects.toMatchObject({ code });
    await expect(egress.request(url, { trust: "operator" })).rejects.toMatchObject({ code });
  });
});
