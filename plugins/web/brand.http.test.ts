import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { buildInterface } from "#test/support/interface.ts";

// Configuration document, WEBUI_NAME, CUSTOM_NAME; WEBUI_FAVICON_URL of the ecosystem.

const icon = Buffer.from("an icon");
let server: Server;
let app: App;
let origin: string;
let asked = 0;

beforeAll(async () => {
  await buildInterface();
  server = createServer((request, response) => {
    asked += 1;
    if (request.url === "/page") {
      response.setHeader("content-type", "text/html").end("<h1>Not found</h1>");
    } else if (request.url === "/large") {
      response.setHeader("content-type", "image/png").end(Buffer.alloc(2 * 1024 * 1024));
    } else {
      response.setHeader("content-type", "image/webp").end(icon);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await startApp({ env: { CUSTOM_NAME: 'Ours <&"> $& Co' } });
});

afterAll(async () => {
  await app?.close();
  await new Promise((resolve) => server?.close(resolve));
});

async function choose(url: string) {
  const admin = await app.admin();
  await admin.call("POST /api/v1/configs/settings", { WEBUI_FAVICON_URL: url });
}

async function read(path: string) {
  const answer = await fetch(app.url + path);
  return {
    type: answer.headers.get("content-type"),
    policy: answer.headers.get("content-security-policy"),
    bytes: Buffer.from(await answer.arrayBuffer()),
  };
}

test("the name stands in the document before any script has run, made safe", async () => {
  const { text } = await app.call("GET /");
  expect(text).toContain("<title>Ours &lt;&amp;&quot;&gt; $&amp; Co</title>");
  expect(text).toContain('<meta name="application-name" content="Ours &lt;&amp;&quot;&gt; $&amp; Co" />');
  expect(text).not.toContain("Millrace");
  expect(text).not.toContain("brand-icon");
});

test("without a chosen icon its own stand everywhere, also where browsers look by themselves", async () => {
  const types = await Promise.all(
    ["/favicon.svg", "/favicon.ico", "/favicon.png", "/icons/512.png"].map(
      async (path) => (await read(path)).type,
    ),
  );
  expect(types).toEqual(["image/svg+xml", "image/png", "image/png", "image/png"]);
});

test("a chosen icon stands in place of all of them, and is read once", async () => {
  await choose(`${origin}/icon`);
  asked = 0;
  const paths = ["/favicon.svg", "/favicon.ico", "/icons/192.png", "/icons/apple-touch-180.png"];
  const icons = await Promise.all(paths.map(read));
  expect(icons.map(({ type, bytes }) => [type, bytes.equals(icon)])).toEqual(
    paths.map(() => ["image/webp", true]),
  );
  expect(icons[0]?.policy).toBe("default-src 'none'; frame-ancestors 'none'");
  expect(asked).toBe(1);
  const { body: manifest } = await app.call("GET /manifest.json");
  expect(manifest.icons).toEqual([{ src: "/favicon.svg", sizes: "any", purpose: "any" }]);
  const { text } = await app.call("GET /");
  expect(text).toContain('<meta name="brand-icon" content="/favicon.svg" />');
  expect(text).toMatch(/<link rel="icon" href="\/favicon\.svg"\s*\/?>/);
});

test.each(["/page", "/large"])("an icon that is none leaves its own in place: %s", async (path) => {
  await choose(origin + path);
  expect((await read("/favicon.svg")).type).toBe("image/svg+xml");
});

test("an address where nobody answers, and a word that is no address, change nothing", async () => {
  for (const url of ["http://127.0.0.1:1/icon", "icon.png"]) {
    await choose(url);
    expect((await read("/favicon.svg")).type).toBe("image/svg+xml");
  }
});
