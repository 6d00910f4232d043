import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { buildInterface } from "#test/support/interface.ts";

let app: App;
let document: string;

beforeAll(async () => {
  await buildInterface();
  app = await startApp();
  document = (await app.call("GET /")).text;
});
afterAll(() => app?.close());

const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const scriptPath = () => /<script type="module"[^>]* src="([^"]+)"/.exec(document)?.[1] as string;

/** Undici would decode the body. */
function getRaw(path: string, encoding: string) {
  return new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const sent = request(app.url + path, { headers: { "accept-encoding": encoding } }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece));
      answer.on("end", () => resolve({ headers: answer.headers, body: Buffer.concat(pieces) }));
    });
    sent.on("error", reject).end();
  });
}

test("answers the document with a strict policy, and 304 to who has it", async () => {
  const { status, headers } = await app.call("GET /");
  expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
    200,
    "text/html; charset=utf-8",
    "no-cache",
  ]);
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  expect(policy).toMatch(/frame-ancestors 'none'/);
  expect(policy).toContain(
    `; connect-src 'self'; frame-src ${app.url}/preview/ ${app.url}/frames/ ${app.url}/api/v1/files/; `,
  );
  expect(policy.replaceAll(app.url, "")).not.toMatch(/unsafe|\*|http/);
  const again = await app.call("GET /", { headers: { "if-none-match": headers.get("etag") ?? "" } });
  expect([again.status, again.text]).toEqual([304, ""]);
});

test("keeps other windows and unused devices away, and browsers on https where they came by it", async () => {
  const plain = (await app.call("GET /")).headers;
  expect(plain.get("permissions-policy")).toContain("microphone=(self), camera=(self)");
  expect(plain.get("strict-transport-security")).toBeNull();
  expect(plain.get("cross-origin-opener-policy")).toBeNull();
  // The proxy on this machine is trusted.
  const behind = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
  const encrypted = (await app.call("GET /", { headers: behind })).headers;
  expect(encrypted.get("strict-transport-security")).toBe("max-age=31536000");
  expect(encrypted.get("cross-origin-opener-policy")).toBe("same-origin-allow-popups");
});

test("has no inline script or style in the document, and sets the theme before anything else", () => {
  expect(document).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=")/);
  expect(document.indexOf("/assets/theme-")).toBeLessThan(document.indexOf("stylesheet"));
});

test("serves hashed files as immutable, to frames without an origin too", async () => {
  const { status, headers } = await app.call(`GET ${scriptPath()}`);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("vary")).toBe("Accept-Encoding");
});

test.each([
  ["gzip, deflate, br", "br", brotliDecompressSync],
  ["gzip;q=1.0", "gzip", gunzipSync],
  ["br;q=0, gzip", "gzip", gunzipSync],
  ["identity", undefined, (body: Buffer) => body],
] as const)("answers the copy for accept-encoding: %s", async (accepted, encoding, unpack) => {
  const plain = (await getRaw(scriptPath(), "identity")).body;
  const { headers, body } = await getRaw(scriptPath(), accepted);
  expect(headers["content-encoding"]).toBe(encoding);
  expect(unpack(body).equals(plain)).toBe(true);
});

test("shows its own page at unknown addresses to browsers, and tells programs as before", async () => {
  const shown = await app.call("GET /no/such/page", { headers: html });
  expect([shown.status, shown.text]).toEqual([404, document]);
  const refused = { status: 404, body: { detail: "Not found" } };
  expect(await app.call("GET /no/such/page")).toMatchObject(refused);
  for (const path of ["/api/none", "/api/v1/none", "/assets/none.js", "/plugins/a/b.js"]) {
    const { status, text } = await app.call(`GET ${path}`, { headers: html });
    expect([status, text.includes("<")]).toEqual([404, false]);
  }
  expect(await app.call("POST /no/such/page", { headers: html })).toMatchObject(refused);
});

test.each([
  "/assets/..%2findex.html",
  "/assets/.vite",
  "/assets/%2e%2e%2f%2e%2e%2fplugin.ts",
  "/assets/sources.txt",
])("serves nothing but files of the build: GET %s", async (path) => {
  expect((await app.call(`GET ${path}`)).status).toBe(404);
});

test("names icons in the manifest that are there, in the sizes that make the page installable", async () => {
  const { icons } = (await app.call("GET /manifest.json")).body as {
    icons: { src: string; type: string; sizes: string; purpose: string }[];
  };
  const found = await Promise.all(icons.map(({ src }) => fetch(app.url + src)));
  expect(found.map((answer) => answer.headers.get("content-type"))).toEqual(icons.map(({ type }) => type));
  const png = icons.filter(({ type }) => type === "image/png");
  expect(png.map(({ sizes, purpose }) => `${sizes} ${purpose}`)).toEqual([
    "192x192 any",
    "512x512 any",
    "512x512 maskable",
  ]);
});

/** The servers that the document's policy lets the page call, for the bearer of a session. */
async function calledBy(token: string): Promise<string> {
  const { headers } = await app.call("GET /", { headers: { cookie: `token=${token}` } });
  return /connect-src 'self' ?([^;]*);/.exec(headers.get("content-security-policy") ?? "")?.[1] ?? "none";
}

test("lets a page call the person's own servers while that is permitted", async () => {
  const boss = await app.admin();
  const { token } = await app.user();
  const tree = (await boss.call("GET /api/v1/users/default/permissions")).body;
  const allow = (direct_tool_servers: boolean) =>
    boss.call("POST /api/v1/users/default/permissions", {
      ...tree,
      features: { ...tree.features, direct_tool_servers },
    });
  await allow(true);
  const servers = [
    "http://tools.test:8080/base",
    "https://x.test/; script-src *",
    "javascript:alert(1)",
    "ws://a.test",
    "http://[::1]:1",
    "https://a b.test",
    "*",
    7,
  ].map((url) => ({ url, path: "openapi.json" }));
  const ui = {
    toolServers: [...servers, { url: "https://x.test", path: "https://described.test/openapi.json" }],
    directConnections: { OPENAI_API_BASE_URLS: ["https://models.test/v1"], OPENAI_API_KEYS: [""] },
  };
  await app.call("POST /api/v1/users/user/settings/update", { token, body: { ui } });
  expect(await calledBy(token)).toBe("http://tools.test:8080 https://x.test https://described.test");
  expect(await calledBy(boss.token)).toBe("");
  const path = "POST /api/v1/configs/connections";
  await boss.call(path, { ENABLE_DIRECT_CONNECTIONS: true });
  expect(await calledBy(token)).toMatch(/described\.test https:\/\/models\.test$/);
  await allow(false);
  expect(await calledBy(token)).toBe("https://models.test");
  await boss.call(path, { ENABLE_DIRECT_CONNECTIONS: false });
  expect(await calledBy(token)).toBe("");
});

test("gives a changed policy a tag of its own: browsers keep the old one with the old tag", async () => {
  const boss = await app.admin();
  const user = await app.user();
  const cookie = `token=${user.token}`;
  const tag = (await app.call("GET /", { headers: { cookie } })).headers.get("etag") ?? "";
  await boss.call("POST /api/v1/configs/connections", { ENABLE_DIRECT_CONNECTIONS: true });
  const ui = { directConnections: { OPENAI_API_BASE_URLS: ["https://models.test/v1"] } };
  await user.call("POST /api/v1/users/user/settings/update", { ui });
  expect((await app.call("GET /", { headers: { cookie, "if-none-match": tag } })).status).toBe(200);
  await boss.call("POST /api/v1/configs/connections", { ENABLE_DIRECT_CONNECTIONS: false });
});
