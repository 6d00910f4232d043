import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { addFunction } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const call = (route: string, body?: unknown) => admin.call(route, body);
const isActive = async (id: string) => (await call(`GET /api/v1/functions/id/${id}`)).body.is_active;
const typed = (mark: string) => `export function inlet(body: { x?: string }) { body.x = "${mark}"; }`;

it("a source that breaks the compiler spoils nobody else's", async () => {
  await addFunction(app, "typed", typed("a"), { global: true });
  const breaking = `const x: number = ${"(".repeat(100_000)}1${")".repeat(100_000)}; export function inlet() {}`;
  const [broken, updated] = await Promise.all([
    call("POST /api/v1/functions/create", { id: "deep", name: "Deep", content: breaking, meta: {} }),
    call("POST /api/v1/functions/id/typed/update", { name: "Typed", content: typed("b"), meta: {} }),
  ]);
  expect([broken.status, updated.status, await isActive("typed")]).toEqual([400, 200, true]);
});

it("an update that runs out of time or memory is refused, and what is stored stays on", async () => {
  await addFunction(app, "kept", typed("a"), { global: true });
  for (const content of [
    "export function inlet() {} for (;;);",
    "const a = []; for (;;) a.push(new Array(10000).fill(a.length)); export function inlet() {}",
  ]) {
    const refused = await call("POST /api/v1/functions/id/kept/update", { name: "Kept", content, meta: {} });
    expect([refused.status, await isActive("kept")]).toEqual([400, true]);
  }
  const syntax = { name: "Kept", content: "export function inlet( {", meta: {} };
  expect((await call("POST /api/v1/functions/id/kept/update", syntax)).status).toBe(400);
  expect(await isActive("kept")).toBe(true);
});
