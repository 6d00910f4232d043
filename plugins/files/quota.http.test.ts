import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { listStored, upload } from "./client.fixture.ts";

let app: App;
let owner: TestUser;

beforeAll(async () => {
  app = await startApp({ env: { FILE_QUOTA_PER_USER: "2" } });
  owner = await app.user();
});

afterAll(() => app.close());

const half = "x".repeat(1024 * 1024 - 8);
const send = (name: string, content: string, user = owner) =>
  upload(app, [name, content], { token: user.token });

it("files of one person take at most the quota, however they are sent, and deleting makes room", async () => {
  expect((await send("one.txt", half)).status).toBe(200);
  // Both fit when they are announced; one of them does when it is stored.
  const answers = await Promise.all([send("two.txt", `${half}2`), send("three.txt", `${half}3`)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 413]);
  const refused = await send("four.txt", "more than eight bytes");
  expect(refused.status).toBe(413);
  expect(refused.body.detail).toBe(
    "There is no room for this file: your files take 2 of the 2 MB that you may store. Delete some under Settings > Files, or ask an administrator for more room.",
  );
  // The bytes of refused files are gone.
  expect(await listStored(app.running.config.dataDir)).toHaveLength(2);
  const other = await app.user();
  expect((await send("one.txt", half, other)).status).toBe(200);

  const kept = answers.find(({ status }) => status === 200);
  expect((await owner.call(`DELETE /api/v1/files/${kept?.body.id}`)).status).toBe(200);
  expect((await send("five.txt", half)).status).toBe(200);
});

it("the room that files take, and their list, are one's own for administrators as well", async () => {
  const { token } = await app.admin();
  const read = async (route: string) => (await app.call(route, { token })).body;
  expect(await read("GET /api/v1/files/storage")).toEqual({ bytes: 0, quota: 2 * 1024 * 1024 });
  expect((await upload(app, ["Mill.txt", "twelve bytes"], { token })).status).toBe(200);
  await upload(app, ["sack.txt", ""], { token });
  expect(await read("GET /api/v1/files/storage")).toEqual({ bytes: 12, quota: 2 * 1024 * 1024 });
  const list = async (query: string) => {
    const { items, total } = await read(`GET /api/v1/files/?content=false&${query}`);
    return [total, items.map(({ filename }: { filename: string }) => filename).toSorted()];
  };
  expect((await list(""))[0]).toBeGreaterThan(2);
  expect(await list("mine=true")).toEqual([2, ["Mill.txt", "sack.txt"]]);
  expect(await list("mine=true&filename=*MILL*")).toEqual([1, ["Mill.txt"]]);
  expect(await list("mine=true&filename=one.txt")).toEqual([0, []]);
});

it("a new limit holds at once, and none is chosen by leaving it empty", async () => {
  const { registry } = app.running;
  await registry.set({ FILE_QUOTA_PER_USER: 1 }, null);
  const refused = await send("six.txt", "6");
  expect([refused.status, refused.body.detail]).toEqual([413, expect.stringContaining("2 of the 1 MB")]);
  await registry.set({ FILE_QUOTA_PER_USER: null }, null);
  expect((await send("six.txt", `${half}${half}${half}`)).status).toBe(200);
});
