import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

/** Two busy cores may take longer than the default second. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
const pages: Record<string, { type: string; body: Buffer | string }> = {
  "/boat.png": { type: "text/html", body: png },
  "/boat.gif": { type: "image/gif", body: "GIF89a\u0001" },
  "/drawing.svg": { type: "image/svg+xml", body: svg },
  "/page.png": { type: "image/png", body: "<html><script>alert(1)</script>" },
  "/huge.png": { type: "image/png", body: Buffer.concat([png, Buffer.alloc(10 * 1024 * 1024)]) },
};

let host: Server;
let origin: string;
let app: App;
let user: TestUser;
/** Answers that the host holds back. */
const waiting: (() => void)[] = [];
let asked: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  host = createServer(({ url, headers }, response) => {
    asked.push({ url, headers });
    if (url === "/slow.png") {
      waiting.push(() => response.end(png));
      return;
    }
    const page = pages[url ?? ""];
    if (url === "/away") {
      response.writeHead(302, { location: "http://127.0.0.1:1/boat.png" }).end();
    } else if (page) {
      response.writeHead(200, { "content-type": page.type, "set-cookie": "seen=1" }).end(page.body);
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  app = await startApp({
    env: { EGRESS_ALLOWED_PRIVATE_ORIGINS: origin, AIOHTTP_CLIENT_ALLOW_REDIRECTS: "true" },
  });
  user = await app.user();
});
beforeEach(() => void (asked = []));
afterAll(async () => {
  await app?.close();
  host?.closeAllConnections();
  host?.close();
});

const ask = (url: unknown, headers: Record<string, string> = {}) =>
  user.call("POST /api/v1/previews/picture", { url }, headers);

test("brings a picture by what its bytes are, with nothing of the reader and nothing of the host", async () => {
  const { status, headers } = await ask(`${origin}/boat.png`, {
    referer: `${app.url}/c/secret`,
    "accept-language": "de",
    cookie: "mine=1",
  });
  expect(status).toBe(200);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "image/png",
    "content-length": String(png.length),
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
  expect(headers.get("set-cookie")).toBeNull();
  expect(asked).toHaveLength(1);
  const sent = asked[0]!.headers;
  expect(Object.keys(sent).filter((name) => /cookie|referer|authorization|forwarded/.test(name))).toEqual([]);
  expect(JSON.stringify(sent)).not.toMatch(/secret|mine=|"de"/);
  expect((await ask(`${origin}/boat.gif`)).headers.get("content-type")).toBe("image/gif");
});

test("brings nothing that could act, and nothing of 10 MB and more", async () => {
  expect((await ask(`${origin}/drawing.svg`)).status).toBe(400);
  expect((await ask(`${origin}/page.png`)).status).toBe(400);
  expect((await ask(`${origin}/huge.png`)).status).toBe(502);
  const { status, body } = await ask(`${origin}/none.png`);
  expect([status, body.detail]).toEqual([502, "The host answered with status 404."]);
});

test("reaches no private address, also not by a redirect, and no other scheme (S73, S75)", async () => {
  for (const url of ["http://127.0.0.1:1/a.png", "http://169.254.169.254/a.png", "http://[::1]/a.png"]) {
    expect((await ask(url)).status, url).toBe(403);
  }
  expect((await ask(`${origin}/away`)).status).toBe(403);
  for (const url of ["file:///etc/passwd", "data:image/png;base64,AA==", "ftp://a.example/a.png", "", 7]) {
    expect((await ask(url)).status, String(url)).toBe(422);
  }
  expect(asked.map(({ url }) => url)).toEqual(["/away"]);
});

test("is asked for by members alone, and by no link or markup", async () => {
  const body = { url: `${origin}/boat.png` };
  expect((await app.call("POST /api/v1/previews/picture", { body })).status).toBe(401);
  const pending = await app.user("pending");
  expect((await pending.call("POST /api/v1/previews/picture", body)).status).toBe(403);
  const get = await user.call(`GET /api/v1/previews/picture?url=${encodeURIComponent(body.url)}`);
  expect(get.status).toBeGreaterThanOrEqual(404);
  expect(asked).toEqual([]);
});

test("brings one person six at the same time, and further ones afterwards", async () => {
  const slow = Array.from({ length: 6 }, () => ask(`${origin}/slow.png`));
  await poll(() => waiting.length).toBe(6);
  expect((await ask(`${origin}/boat.png`)).status).toBe(429);
  const other = await app.user();
  expect((await other.call("POST /api/v1/previews/picture", { url: `${origin}/boat.png` })).status).toBe(200);
  waiting.splice(0).forEach((answer) => answer());
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
  expect((await ask(`${origin}/boat.png`)).status).toBe(200);
});
