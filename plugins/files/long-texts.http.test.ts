// Takes long: lists of texts that are larger than what a socket buffers are sent.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { upload } from "./client.fixture.ts";

const megabyte = 1024 * 1024;
let app: App;
let owner: TestUser;
/** What the lists have to hold, newest first. */
let texts: Map<string, string>;

const get = (path: string) => owner.call(`GET /api/v1/files/${path}`);
const write = (id: string, content: string) =>
  owner.call(`POST /api/v1/files/${id}/data/content/update`, { content });
const textsOf = (items: { id: string; data: { content?: string } }[]) =>
  new Map(items.map(({ id, data }) => [id, data.content]));

beforeAll(async () => {
  app = await useApp();
  owner = await app.user();
  texts = new Map();
  for (const length of [3 * megabyte, 1, 3 * megabyte]) {
    const { body } = await upload(app, [`${texts.size}.txt`, "short"], {
      token: owner.token,
      query: "?process_in_background=false",
    });
    texts.set(body.id, `ä"${texts.size}`.repeat(length).slice(0, length));
    await write(body.id, texts.get(body.id) as string);
    await get(`${body.id}/process/status?stream=true`);
  }
});
afterAll(() => app?.close());

it("long texts of a list are sent while they are read", async () => {
  const list = await get("");
  const found = await get("search?filename=*.txt");
  expect([textsOf(list.body.items), textsOf(found.body)]).toEqual([texts, texts]);
  expect([Object.keys(list.body), list.body.total]).toEqual([["items", "total"], 3]);
  for (const { headers } of [list, found]) {
    expect(headers.get("content-type")).toContain("application/json");
    // Whoever knows the length has all of it in memory.
    expect(headers.get("content-length")).toBeNull();
  }
  const bare = await get("?content=false");
  expect(bare.body).toEqual({
    items: list.body.items.map((item: object) => ({
      ...item,
      // The passages are embedded meanwhile.
      data: { status: "completed", error: null, passages: expect.anything() },
    })),
    total: 3,
  });
});

it("a text has a longest", async () => {
  const [id] = texts.keys();
  expect((await write(id as string, "x".repeat(10_000_001))).status).toBe(422);
  expect((await get(`${id}/data/content`)).body.content).toHaveLength(3 * megabyte);
});
