import { once } from "node:events";
import type { LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { silence, stallAfter } from "#test/support/upstream-faults.ts";
import { body, json } from "#test/support/upstream-scripts.ts";
import { createEgress, type Egress, type EgressOptions } from "./egress.ts";

let upstream: Upstream;
let egress: Egress;
let settings: { private: string[]; redirects: boolean; timeout: number | null };

beforeEach(async () => {
  upstream = await startUpstream();
  settings = { private: [], redirects: false, timeout: null };
  egress = open();
});

afterEach(async () => {
  await egress.close();
  await upstream.close();
});

function open(extra: Partial<EgressOptions> = {}): Egress {
  return createEgress({
    allowedPrivateOrigins: () => settings.private,
    ssl: () => true,
    caFile: () => "",
    fingerprint: () => "",
    allowRedirects: () => settings.redirects,
    timeoutSeconds: () => settings.timeout,
    ...extra,
  });
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

describe("fetch", () => {
  it("sends plain objects as JSON and answers with a platform Response", async () => {
    upstream.reply(json({ ok: true }, { status: 201, headers: { "x-one": "1" } }));
    const response = await egress.fetch(`${upstream.url}/items?q=a b#part`, {
      trust: "operator",
      method: "post",
      headers: { Authorization: "Bearer abc" },
      body: { name: "é" },
    });
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.headers.get("x-one"), response.url]).toEqual([
      201,
      "1",
      `${upstream.url}/items?q=a%20b`,
    ]);
    expect(await response.json()).toEqual({ ok: true });
    const [seen] = upstream.requests;
    expect([seen!.method, seen!.path, seen!.body]).toEqual(["POST", "/v1/items?q=a%20b", { name: "é" }]);
    expect(seen!.headers).toMatchObject({ authorization: "Bearer abc", "user-agent": "Millrace" });
  });

  it("hands over statuses as they are and tries once", async () => {
    upstream.always("/x", json({ detail: "no" }, { status: 503 }));
    const response = await egress.fetch(`${upstream.url}/x`, { trust: "operator" });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ detail: "no" });
    expect(upstream.requests).toHaveLength(1);
  });

  it("sends forms with their length", async () => {
    upstream.reply(json({}));
    const form = new FormData();
    form.set("file", new Blob(["hello"]), "a.txt");
    await egress.fetch(`${upstream.url}/up`, { trust: "operator", method: "POST", body: form });
    const { headers, bytes } = upstream.requests[0]!;
    expect(headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(Number(headers["content-length"])).toBe(bytes.length);
    expect(bytes.toString()).toContain('name="file"; filename="a.txt"');
  });

  it("turns credentials of the URL into a header", async () => {
    upstream.always("/x", json({}));
    const url = new URL(`${upstream.url}/x`);
    url.username = "me";
    url.password = "p@ss";
    await egress.fetch(url, { trust: "operator" });
    expect(upstream.requests[0]!.headers["authorization"]).toBe(`Basic ${btoa("me:p@ss")}`);
    expect(url.password).toBe("p%40ss");
  });

  it("has no body where HTTP has none", async () => {
    upstream.reply("/x", async (exchange) => {
      await exchange.start(204, {});
    });
    const response = await egress.fetch(`${upstream.url}/x`, { trust: "operator", timeoutMs: 5_000 });
    expect([response.status, response.body]).toEqual([204, null]);
  });
});

describe("request", () => {
  it("gives a node stream with lower-cased and raw headers", async () => {
    upstream.reply(body("hello", { headers: { "X-Two": "2", "content-type": "text/plain" } }));
    const answer = await egress.request(`${upstream.url}/x?y=1`, {
      trust: "operator",
      method: "POST",
      headers: { "Content-Type": "application/json", "X-List": ["a", "b"] },
      body: Buffer.from("{}"),
    });
    expect([answer.status, answer.headers["x-two"]]).toEqual([200, "2"]);
    expect(answer.rawHeaders.slice(0, 2)).toEqual(["X-Two", "2"]);
    expect(answer.body).toBeInstanceOf(Readable);
    expect(await text(answer.body)).toBe("hello");
    expect(upstream.requests[0]).toMatchObject({ path: "/v1/x?y=1", body: {} });
  });

  it("sends streams, and keeps the connection for the next request", async () => {
    upstream.always("/x", json({}));
    for (const part of ["one", "two", "three", "four"]) {
      const answer = await egress.request(`${upstream.url}/x`, {
        trust: "operator",
        method: "PUT",
        body: Readable.from([part, "!"]),
      });
      await text(answer.body);
    }
    expect(upstream.requests.map(({ bytes }) => bytes.toString())).toEqual([
      "one!",
      "two!",
      "three!",
      "four!",
    ]);
    // One may still be finishing when the next request looks for a connection.
    expect(upstream.openSockets()).toBeLessThanOrEqual(2);
  });

  it("holds a fast upstream back while nobody reads, and loses nothing", async () => {
    const size = 8_000_000;
    upstream.reply("/x", body(Buffer.alloc(size, "x")));
    const answer = await egress.request(`${upstream.url}/x`, { trust: "operator" });
    await once(answer.body, "readable");
    expect(answer.body.readableLength).toBeLessThan(1_000_000);
    expect((await text(answer.body)).length).toBe(size);
  });

  it("closes the upstream's connection when the body is destroyed", async () => {
    upstream.reply("/x", stallAfter(5, body("hello world")));
    const answer = await egress.request(`${upstream.url}/x`, { trust: "operator" });
    await once(answer.body, "readable");
    answer.body.destroy();
    await upstream.socketsAtMost(0);
  });
});

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
    const mixed = open({ lookup: lookupOf(["8.8.8.8", "127.0.0.1"]) });
    const url = `http://mixed.test:${new URL(upstream.url).port}/`;
    await expect(mixed.fetch(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
    expect(upstream.openSockets()).toBe(0);
    await mixed.close();
  });

  it("checks the resolution that it connects to, each time", async () => {
    // 2000::1 is public and unused: that attempt is let through, and ends in the network.
    const lookup = lookupOf(["2000::1"], ["127.0.0.1"]);
    const rebound = open({ lookup });
    const url = `http://rebind.test:${new URL(upstream.url).port}/`;
    const first = await rebound.fetch(url, { trust: "user", timeoutMs: 300 }).catch((error) => error);
    expect(["upstream", "timeout"]).toContain(first.code);
    await rebound.close();
    const again = open({ lookup });
    await expect(again.request(url, { trust: "user" })).rejects.toMatchObject({ code: "forbidden" });
    expect(lookup.calls).toBe(2);
    expect(upstream.openSockets()).toBe(0);
    await again.close();
  });

  it("lets through the origins that settings or the call allow, live and by port", async () => {
    upstream.always("/x", json("there"));
    const url = `${upstream.url}/x`;
    settings.private = [`${upstream.origin}/`];
    expect(await (await egress.fetch(url, { trust: "user" })).json()).toBe("there");
    settings.private = ["http://127.0.0.1:1", "nonsense"];
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

describe("closing", () => {
  it("breaks what is open and refuses what comes later", async () => {
    upstream.always("/x", silence());
    const open = egress.request(`${upstream.url}/x`, { trust: "operator" });
    await upstream.nextRequest("/x");
    const [ended] = await Promise.allSettled([open, egress.close()]);
    expect(ended).toMatchObject({ status: "rejected", reason: { code: "upstream" } });
    await expect(egress.fetch(upstream.url, { trust: "operator" })).rejects.toMatchObject({
      code: "unavailable",
    });
  });
});
