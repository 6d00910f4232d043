import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let server: Server;
let app: App;
let user: TestUser;
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.setHeader("content-type", "application/json");
    response.end(request.url === "/manifest" ? '{"name":"Theirs"}' : '{"tag_name":"v9.9.9"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { EXTERNAL_PWA_MANIFEST_URL: `${base}/manifest`, VERSION_UPDATE_URL: `${base}/release` };
  app = await startApp({ env });
  user = await app.user();
});

afterAll(async () => {
  await app?.close();
  await new Promise((resolve) => server.close(resolve));
});

describe("documents elsewhere", () => {
  it("answers the operator's manifest, and asks for it once", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => app.call("GET /manifest.json")));
    expect(answers.map(({ body }) => body.name)).toEqual(Array.from({ length: 5 }, () => "Theirs"));
    expect(asked.filter((path) => path === "/manifest")).toHaveLength(1);
  });

  it("names the latest release", async () => {
    expect((await user.call("GET /api/version/updates")).body.latest).toBe("9.9.9");
  });
});

it("falls back to its own manifest and release when nobody answers", async () => {
  const env = {
    EXTERNAL_PWA_MANIFEST_URL: "http://127.0.0.1:1/manifest",
    VERSION_UPDATE_URL: "http://127.0.0.1:1/",
  };
  const lonely = await startApp({ env });
  try {
    expect((await lonely.call("GET /manifest.json")).body.start_url).toBe("/");
    const admin = await lonely.admin();
    const { body } = await admin.call("GET /api/version/updates");
    expect(body.latest).toBe(body.current);
  } finally {
    await lonely.close();
  }
});
