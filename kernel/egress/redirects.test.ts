import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEgress } from "#test/support/egress.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { body, json } from "#test/support/upstream-scripts.ts";
import type { Egress } from "./egress.ts";
import { toNextHop } from "./redirect.ts";
import { trustAfterRedirect } from "./target.ts";

let here: Upstream;
let there: Upstream;
let egress: Egress;
let allow: boolean;
let allowedPrivateOrigins: string[];

beforeEach(async () => {
  here = await startUpstream();
  there = await startUpstream();
  allow = true;
  allowedPrivateOrigins = [];
  egress = openEgress({ allowedPrivateOrigins: () => allowedPrivateOrigins, allowRedirects: () => allow });
});

afterEach(async () => {
  await egress.close();
  await here.close();
  await there.close();
});

const moved = (location: string, status = 302) => body("moved", { status, headers: { location } });

describe("redirects that are off", () => {
  it("are handed to operators of the hot path, and refused elsewhere", async () => {
    allow = false;
    here.always("/x", moved(`${there.url}/y`));
    const answer = await egress.request(`${here.url}/x`, { trust: "operator" });
    expect([answer.status, answer.headers["location"]]).toEqual([302, `${there.url}/y`]);
    expect(await text(answer.body)).toBe("moved");
    const refusal = { code: "upstream", detail: /redirect/ };
    await expect(egress.fetch(`${here.url}/x`, { trust: "operator" })).rejects.toMatchObject(refusal);
    const asUser = { trust: "user", allowedOrigins: [here.origin] } as const;
    await expect(egress.fetch(`${here.url}/x`, asUser)).rejects.toMatchObject(refusal);
    await expect(egress.request(`${here.url}/x`, asUser)).rejects.toMatchObject(refusal);
    expect(there.requests).toHaveLength(0);
  });
});

describe("redirects that are on", () => {
  it("are followed within an origin with everything that was sent", async () => {
    here.always("/x", moved("/v1/y?z=1", 307));
    here.always("/y", json("arrived"));
    const init = {
      trust: "operator",
      method: "POST",
      headers: { authorization: "Bearer a", "x-key": "b" },
    } as const;
    const response = await egress.fetch(`${here.url}/x`, { ...init, body: { a: 1 } });
    expect([await response.json(), response.url]).toEqual(["arrived", `${here.url}/y?z=1`]);
    const answer = await egress.request(`${here.url}/x`, { ...init, body: '{"a":1}' });
    expect(await text(answer.body)).toBe('"arrived"');
    const arrived = here.requests.filter(({ path }) => path.startsWith("/v1/y"));
    expect(arrived).toHaveLength(2);
    for (const { method, headers, bytes } of arrived) {
      expect([method, headers["authorization"], headers["x-key"], bytes.toString()]).toEqual([
        "POST",
        "Bearer a",
        "b",
        '{"a":1}',
      ]);
    }
  });

  it("carry no key across origins", async () => {
    allowedPrivateOrigins = [there.origin];
    here.always("/x", moved(`${there.url}/y`));
    there.always("/y", json({}));
    const headers = {
      authorization: "Bearer a",
      cookie: "c=1",
      "x-api-key": "k",
      "x-vendor-secret": "s",
      accept: "text/html",
    };
    await egress.fetch(`${here.url}/x`, { trust: "operator", headers });
    await (await egress.request(`${here.url}/x`, { trust: "operator", headers })).body.resume();
    expect(there.requests).toHaveLength(2);
    for (const seen of there.requests) {
      expect(seen.headers["accept"]).toBe("text/html");
      expect(Object.keys(seen.headers)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(authorization|cookie|x-api-key|x-vendor-secret)$/)]),
      );
    }
  });

  it("lead nowhere private, whoever chose the first address", async () => {
    here.always("/x", moved(`${there.url}/y`));
    there.always("/y", json("secret"));
    for (const init of [{ trust: "operator" }, { trust: "user", allowedOrigins: [here.origin] }] as const) {
      await expect(egress.fetch(`${here.url}/x`, init)).rejects.toMatchObject({ code: "forbidden" });
      await expect(egress.request(`${here.url}/x`, init)).rejects.toMatchObject({ code: "forbidden" });
    }
    expect(there.requests).toHaveLength(0);
  });

  it("are checked at the last of several hops", async () => {
    here.always("/a", moved("/v1/b"));
    here.always("/b", moved("/v1/c", 301));
    here.always("/c", moved("http://169.254.169.254/latest/meta-data"));
    await expect(egress.fetch(`${here.url}/a`, { trust: "operator" })).rejects.toMatchObject({
      code: "forbidden",
    });
    expect(here.requests.map(({ path }) => path)).toEqual(["/v1/a", "/v1/b", "/v1/c"]);
  });

  it("end when they go in circles, or elsewhere than http", async () => {
    here.always("/loop", moved("/v1/loop"));
    here.always("/file", moved("file:///etc/passwd"));
    await expect(egress.fetch(`${here.url}/loop`, { trust: "operator" })).rejects.toMatchObject({
      code: "upstream",
    });
    expect(here.requests).toHaveLength(11);
    await expect(egress.fetch(`${here.url}/file`, { trust: "operator" })).rejects.toMatchObject({
      code: "forbidden",
    });
  });

  it("are not followed with a stream that has been read", async () => {
    here.always("/x", moved("/v1/y", 307));
    const answer = await egress.request(`${here.url}/x`, {
      trust: "operator",
      method: "POST",
      body: Readable.from(["once"]),
    });
    expect(answer.status).toBe(307);
    answer.body.destroy();
  });
});

describe("toNextHop", () => {
  const hop = (method: string) => ({
    url: new URL("https://a.test/x"),
    method,
    headers: { host: "b.test", "content-type": "text/plain", "x-key": "k" },
    body: "data",
  });

  it.each([
    ["POST", 301, "GET"],
    ["POST", 302, "GET"],
    ["PUT", 302, "PUT"],
    ["PUT", 303, "GET"],
    ["HEAD", 303, "HEAD"],
    ["POST", 307, "POST"],
    ["POST", 308, "POST"],
  ])("turns %s after %i into %s", (method, status, expected) => {
    const next = toNextHop(hop(method), status, "y");
    expect([next.url.href, next.method]).toEqual(["https://a.test/y", expected]);
    const keepsBody = method === expected;
    expect(next.body).toBe(keepsBody ? "data" : undefined);
    expect(next.headers).toEqual(
      keepsBody ? { "content-type": "text/plain", "x-key": "k" } : { "x-key": "k" },
    );
  });

  it("drops credentials that the location brings", () => {
    expect(toNextHop(hop("GET"), 302, "https://u:p@c.test/").url.href).toBe("https://c.test/");
  });
});

describe("trustAfterRedirect", () => {
  it.each([
    ["http://a.test/x", "http://a.test/y", "operator"],
    ["http://a.test/", "https://a.test/", "operator"],
    ["https://a.test/", "http://a.test/", "user"],
    ["http://a.test/", "https://b.test/", "user"],
    ["http://a.test:8080/", "http://a.test:6379/", "user"],
    ["http://a.test/", "https://a.test:8443/", "user"],
  ])("%s to %s is trusted like %s", (from, to, expected) => {
    expect(trustAfterRedirect(new URL(from), new URL(to), "operator")).toBe(expected);
    expect(trustAfterRedirect(new URL(from), new URL(to), "user")).toBe("user");
  });
});
