import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEgress } from "#test/support/egress.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { silence, stallAfter } from "#test/support/upstream-faults.ts";
import { body, json } from "#test/support/upstream-scripts.ts";
import type { Egress } from "./egress.ts";

let upstream: Upstream;
let egress: Egress;

beforeEach(async () => {
  upstream = await startUpstream();
  egress = openEgress();
});

afterEach(async () => {
  await egress.close();
  await upstream.close();
});

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
    await egress.fetch(`${upstream.url}/x`.replace("//", "//50%:off@"), { trust: "operator" });
    expect(upstream.requests[1]!.headers["authorization"]).toBe(`Basic ${btoa("50%:off")}`);
  });

  it("has no body where HTTP has none", async () => {
    upstream.reply("/x", async (exchange) => {
      await exchange.start(204, {});
    });
    const response = await egress.fetch(`${upstream.url}/x`, { trust: "operator", timeoutMs: 5_000 });
    expect([response.status, response.body]).toEqual([204, null]);
  });
});

describe("fetch, against odd upstreams", () => {
  it("refuses a status that is none, and frees the connection", async () => {
    upstream.reply("/x", stallAfter(2, body("hello", { status: 999 })));
    await expect(egress.fetch(`${upstream.url}/x`, { trust: "operator" })).rejects.toMatchObject({
      code: "upstream",
    });
    await upstream.socketsAtMost(0);
  });
});

describe("request", () => {
  it("gives a node stream with lower-cased headers", async () => {
    upstream.reply(body("hello", { headers: { "X-Two": "2", "content-type": "text/plain" } }));
    const answer = await egress.request(`${upstream.url}/x?y=1`, {
      trust: "operator",
      method: "POST",
      headers: { "Content-Type": "application/json", "X-List": ["a", "b"] },
      body: Buffer.from("{}"),
    });
    expect([answer.status, answer.headers["x-two"]]).toEqual([200, "2"]);
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
