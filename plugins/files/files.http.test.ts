import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { listStored, type Sent, upload } from "./client.fixture.ts";
import { fileReferences } from "./service.ts";

/** Ids of files that everybody may read, as through a shared knowledge base. */
const shared = new Set<string>();
const sharing = definePlugin({
  id: "sharing-test",
  title: "Sharing",
  setup: () => ({
    fills: [
      fill(fileReferences, {
        id: "test",
        isReachable: async (_who, id, action) => action === "read" && shared.has(id),
      }),
    ],
  }),
});

let app: App;
let owner: TestUser;
let other: TestUser;
let admin: TestUser;

beforeAll(async () => {
  app = await startApp({ plugins: [sharing] });
  admin = await app.admin();
  owner = await app.user();
  other = await app.user();
});

afterAll(() => app.close());

/** How far search by meaning is: vectors follow in the background. */
const passages = { total: 1, embedded: expect.any(Number) };
const send = (name: string, content: string, sent: Partial<Sent> = {}) =>
  upload(app, [name, content], { token: owner.token, ...sent });
const get = (path: string, token = owner.token, headers: Record<string, string> = {}) =>
  app.call(`GET /api/v1/files/${path}`, { token, headers });
const stored = () => listStored(app.running.config.dataDir);

describe("lists", () => {
  let lister: TestUser;
  beforeAll(async () => {
    lister = await app.user();
    for (const name of ["a_1.txt", "ab1.txt", "A%.TXT", "z.md"]) {
      await send(name, "text", { token: lister.token, query: "?process_in_background=false" });
    }
  });

  it("hold one's own files, with or without their text", async () => {
    const { body } = await get("", lister.token);
    expect(body.total).toBe(4);
    expect(body.items.map(({ filename }: { filename: string }) => filename).toSorted()).toEqual([
      "A%.TXT",
      "a_1.txt",
      "ab1.txt",
      "z.md",
    ]);
    expect(body.items[0].data).toEqual({ status: "completed", error: null, content: "text", passages });
    expect((await get("?content=false", lister.token)).body.items[0].data).toEqual({
      status: "completed",
      error: null,
      passages,
    });
    expect((await get("?page=2", lister.token)).body).toEqual({ items: [], total: 4 });
    expect((await get("?page=0", lister.token)).status).toBe(422);
    expect((await get("count", lister.token)).body).toEqual({ count: 4 });
    await send("mine.txt", "x");
    expect((await get("count", admin.token)).body).toEqual({ count: 5 });
  });

  it.each([
    ["*.txt", ["A%.TXT", "a_1.txt", "ab1.txt"]],
    ["a?1.txt", ["a_1.txt", "ab1.txt"]],
    ["a_1*", ["a_1.txt"]],
    ["*%*", ["A%.TXT"]],
    ["Z.MD", ["z.md"]],
  ])("find %s", async (glob, names) => {
    const { body } = await get(`search?filename=${encodeURIComponent(glob)}&content=false`, lister.token);
    expect(body.map(({ filename }: { filename: string }) => filename).toSorted()).toEqual(names);
  });

  it("find nothing with 404", async () => {
    expect((await get("search?filename=none", lister.token)).status).toBe(404);
    expect((await get(`search?filename=*&skip=4`, lister.token)).status).toBe(404);
  });
});

describe("changes", () => {
  const change = (id: string, path: string, body: unknown, token = owner.token) =>
    app.call(`POST /api/v1/files/${id}/${path}`, { token, body });

  it("rename the file everywhere", async () => {
    const { id } = (await send("a.txt", "x")).body;
    const { body } = await change(id, "rename", { filename: "../b.txt" });
    expect(body).toMatchObject({ filename: "b.txt", meta: { name: "b.txt", size: 1 } });
    expect((await change(id, "rename", { filename: " " })).status).toBe(422);
  });

  it("replace the text, not the bytes", async () => {
    const { id } = (await send("a.txt", "old", { query: "?process_in_background=false" })).body;
    expect((await change(id, "data/content/update", { content: "new" })).body).toEqual({ content: "new" });
    await get(`${id}/process/status?stream=1`);
    expect((await get(id)).body.data).toEqual({ status: "completed", error: null, content: "new", passages });
    expect((await get(`${id}/content`)).text).toBe("old");
  });

  it("delete the file with its bytes", async () => {
    const { id } = (await send("a.txt", "x")).body;
    expect((await owner.call(`DELETE /api/v1/files/${id}`)).body).toEqual({
      message: expect.any(String),
    });
    expect((await get(id)).status).toBe(404);
    expect((await stored()).filter((key) => key.endsWith(id))).toEqual([]);
    expect((await owner.call(`DELETE /api/v1/files/${id}`)).status).toBe(404);
  });
});

describe("another's file", () => {
  const routes = [
    "GET ",
    "GET /process/status",
    "GET /process/status?stream=true",
    "GET /data/content",
    "GET /content",
    "GET /content/html",
    "GET /content/x",
  ];
  const changes = ["POST /rename", "POST /data/content/update", "DELETE "];
  const body = { filename: "x.txt", content: "x" };
  let id: string;
  beforeAll(async () => {
    id = (await send("a.txt", "secret", { query: "?process_in_background=false" })).body.id;
  });

  const call = (route: string, of: string, token: string) => {
    const [method, path] = route.split(" ") as [string, string];
    return app.call(`${method} /api/v1/files/${of}${path}`, {
      token,
      ...(method === "POST" ? { body } : {}),
    });
  };

  it.each([...routes, ...changes])("does not exist for others: %s", async (route) => {
    const foreign = await call(route, id, other.token);
    const absent = await call(route, "00000000-0000-4000-8000-000000000000", other.token);
    const malformed = await call(route, "no%20such%20id", other.token);
    expect([foreign.status, absent.status, malformed.status]).toEqual([404, 404, 404]);
    expect([foreign.text, malformed.text]).toEqual([absent.text, absent.text]);
  });

  it("may be read but not changed through what refers to it", async () => {
    shared.add(id);
    for (const route of routes) {
      expect((await call(route, id, other.token)).status).toBe(200);
    }
    for (const route of changes) {
      expect([route, (await call(route, id, other.token)).status]).toEqual([
        route,
        route === "DELETE " ? 404 : 403,
      ]);
    }
    shared.delete(id);
    expect((await get(`${id}/content`, other.token)).status).toBe(404);
  });

  it("is open to admins", async () => {
    expect((await get(id, admin.token)).status).toBe(200);
  });
});

describe("removal", () => {
  it("of an account takes its files along", async () => {
    const leaver = await app.user();
    const { id } = (await send("a.txt", "x", { token: leaver.token })).body;
    expect((await admin.call(`DELETE /api/v1/users/${leaver.id}`)).status).toBe(200);
    await expect.poll(async () => (await get(id, admin.token)).status).toBe(404);
    await expect.poll(async () => (await stored()).filter((key) => key.endsWith(id))).toEqual([]);
  });

  it("of all files is for admins", async () => {
    expect((await owner.call("DELETE /api/v1/files/all")).status).toBe(403);
    expect((await admin.call("DELETE /api/v1/files/all")).body).toEqual({
      message: expect.any(String),
    });
    expect((await get("", admin.token)).body.total).toBe(0);
    expect(await stored()).toEqual([]);
  });
});
