import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, LookupFunction } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEgress } from "#test/support/egress.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { gzipBomb, resetAfter, silence, stallAfter } from "#test/support/upstream-faults.ts";
import { body, json, raw } from "#test/support/upstream-scripts.ts";
import type { Egress } from "./egress.ts";

let upstream: Upstream;
let egress: Egress;
let timeout: number | null;

beforeEach(async () => {
  upstream = await startUpstream();
  timeout = null;
  egress = open();
});

afterEach(async () => {
  await egress.close();
  await upstream.close();
});

function open(lookup?: LookupFunction): Egress {
  return openEgress({ timeoutSeconds: () => timeout, ...(lookup && { lookup }) });
}

const trust = "operator";

describe("size", () => {
  it("refuses a body that says it is too large, and frees the connection", async () => {
    upstream.reply("/x", stallAfter(10, body("x".repeat(2_000))));
    const asked = egress.fetch(`${upstream.url}/x`, { trust, maxBytes: 1_999 });
    await expect(asked).rejects.toMatchObject({ code: "upstream", detail: /larger than allowed/ });
    await upstream.socketsAtMost(0);
  });

  it("counts what comes without a length", async () => {
    upstream.always(
      "/x",
      raw(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`),
    );
    const fits = await egress.fetch(`${upstream.url}/x`, { trust, maxBytes: 5 });
    expect(await fits.text()).toBe("hello");
    const tooLarge = await egress.fetch(`${upstream.url}/x`, { trust, maxBytes: 4 });
    await expect(tooLarge.text()).rejects.toMatchObject({ code: "upstream", detail: /larger than allowed/ });
  });

  it("counts the decompressed bytes", async () => {
    upstream.always("/x", gzipBomb(50_000_000));
    const response = await egress.fetch(`${upstream.url}/x`, { trust, maxBytes: 1_000_000 });
    expect(response.headers.get("content-encoding")).toBeNull();
    await expect(response.bytes()).rejects.toMatchObject({ code: "upstream" });
  });
});

describe("time", () => {
  it("ends a request that takes longer than AIOHTTP_CLIENT_TIMEOUT", async () => {
    upstream.always("/x", silence());
    timeout = 0.05;
    const expected = { code: "timeout" };
    await expect(egress.fetch(`${upstream.url}/x`, { trust })).rejects.toMatchObject(expected);
    await expect(egress.request(`${upstream.url}/x`, { trust })).rejects.toMatchObject(expected);
    await upstream.socketsAtMost(0);
  });

  it("counts the body into the total, and lets a call set its own", async () => {
    timeout = 3_600;
    upstream.always("/x", stallAfter(5, body("hello world")));
    const response = await egress.fetch(`${upstream.url}/x`, { trust, timeoutMs: 800 });
    await expect(response.text()).rejects.toMatchObject({ code: "timeout" });
    const answer = await egress.request(`${upstream.url}/x`, { trust, timeoutMs: 800 });
    await expect(text(answer.body)).rejects.toMatchObject({ code: "timeout" });
    await upstream.socketsAtMost(0);
  });

  it("leaves an answer that ended in time alone", async () => {
    upstream.always("/x", json({ ok: true }));
    const answer = await egress.request(`${upstream.url}/x`, { trust, timeoutMs: 2_000 });
    expect(await text(answer.body)).toBe('{"ok":true}');
    const later = await egress.fetch(`${upstream.url}/x`, { trust, timeoutMs: null });
    expect(await later.json()).toEqual({ ok: true });
    expect(upstream.openSockets()).toBeGreaterThan(0);
  });

  it("ends a request whose head does not come, and a body that falls silent", async () => {
    upstream.always("/head", silence());
    upstream.always("/body", stallAfter(5, body("hello world")));
    const late = egress.request(`${upstream.url}/head`, { trust, headersTimeoutMs: 50 });
    await expect(late).rejects.toMatchObject({ code: "timeout" });
    const answer = await egress.request(`${upstream.url}/body`, { trust, idleTimeoutMs: 50 });
    await expect(text(answer.body)).rejects.toMatchObject({ code: "timeout", detail: /silent/ });
  });
});

describe("abort", () => {
  it("comes back as the reason of the caller's signal, before the head and within the body", async () => {
    upstream.always("/head", silence());
    upstream.always("/body", stallAfter(5, body("hello world")));
    for (const path of ["/head", "/body"]) {
      for (const ask of [askFetch, askRequest]) {
        const leave = new AbortController();
        const reason = new Error("the user left");
        const asked = ask(upstream.url + path, leave.signal).catch((error: unknown) => error);
        const seen = await upstream.nextRequest(path);
        leave.abort(reason);
        expect(await asked).toBe(reason);
        await seen.aborted;
      }
    }
    await upstream.socketsAtMost(0);
  });

  it("does not start with a signal that is aborted already", async () => {
    const signal = AbortSignal.abort();
    await expect(askFetch(`${upstream.url}/x`, signal)).rejects.toMatchObject({ name: "AbortError" });
    await expect(askRequest(`${upstream.url}/x`, signal)).rejects.toMatchObject({ name: "AbortError" });
    expect(upstream.requests).toHaveLength(0);
  });

  it("does not wait for a connection that is still being made", async () => {
    let resolve = () => {};
    const asked = new Promise<void>((done) => (resolve = done));
    // A resolver that never answers.
    const stuck = open(() => resolve());
    const leave = new AbortController();
    const pending = askRequest("http://slow.test/", leave.signal, stuck).catch((error: Error) => error.name);
    await asked;
    leave.abort();
    expect(await pending).toBe("AbortError");
    await stuck.close();
  });

  it("keeps the process alive when a body breaks that nobody reads yet", async () => {
    upstream.reply("/x", resetAfter(5, body("hello world")));
    const answer = await egress.request(`${upstream.url}/x`, { trust });
    // Waited for without a listener for errors, which is the point.
    await new Promise<void>((resolve) => answer.body.on("close", () => resolve()));
    await expect(text(answer.body)).rejects.toThrow();
    expect(answer.body.errored).toMatchObject({ code: "upstream" });
  });
});

describe("failures", () => {
  it("says what is wrong without naming anything internal", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    const url = `http://127.0.0.1:${port}/secret-path`;
    for (const ask of [askFetch, askRequest]) {
      const error = await ask(url).catch((failure) => failure);
      expect(error).toMatchObject({ code: "upstream", detail: "The upstream refused the connection." });
      expect(error.cause).toBeInstanceOf(Error);
    }
  });

  it("tells unknown names, nonsense and broken answers apart", async () => {
    const unknown = open((_name, _options, callback) =>
      callback(Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }), ""),
    );
    await expect(askRequest("http://nowhere.test/", undefined, unknown)).rejects.toMatchObject({
      detail: "The upstream's name could not be resolved.",
    });
    await unknown.close();
    upstream.always("/nonsense", raw("SSH-2.0-OpenSSH\r\n\r\n"));
    upstream.always("/cut", resetAfter(0, body("hello")));
    for (const ask of [askFetch, askRequest]) {
      await expect(ask(`${upstream.url}/nonsense`)).rejects.toMatchObject({
        code: "upstream",
        detail: "The upstream's answer could not be understood.",
      });
      await expect(ask(`${upstream.url}/cut`)).rejects.toMatchObject({ code: "upstream" });
    }
  });

  it("refuses headers that cannot be sent", async () => {
    const headers = { "x-bad": "a\r\nx-injected: 1" };
    await expect(egress.request(`${upstream.url}/x`, { trust, headers })).rejects.toMatchObject({
      code: "invalid",
    });
    await expect(egress.fetch(`${upstream.url}/x`, { trust, headers })).rejects.toMatchObject({
      code: "invalid",
    });
    await expect(egress.fetch("http://127.0.0.1:6000/", { trust })).rejects.toMatchObject({
      code: "forbidden",
      detail: /port/,
    });
    expect(upstream.requests).toHaveLength(0);
  });
});

async function askFetch(url: string, signal?: AbortSignal): Promise<string> {
  return (await egress.fetch(url, { trust, signal })).text();
}

async function askRequest(url: string, signal?: AbortSignal, client = egress): Promise<string> {
  const answer = await client.request(url, { trust, signal });
  return text(answer.body);
}
