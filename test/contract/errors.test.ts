import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

// ecosystem-shapes.md, Lists and records: 422 details.

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
});

afterAll(() => app?.close());

const entriesOf = async (route: string, body?: unknown) => {
  const answer = await admin.call(route, body);
  expect(answer.status).toBe(422);
  return answer.body.detail as { type: string; loc: unknown[]; msg: string; input: unknown }[];
};

it("every problem shows its input, null where that is missing, long or secret", async () => {
  expect(await entriesOf("GET /api/v1/users?page=0")).toMatchObject([{ loc: ["query", "page"], input: "0" }]);
  const missing = await entriesOf("POST /api/v1/auths/add", { name: "x" });
  expect(missing.map(({ loc, input }) => [loc.at(-1), input])).toEqual([
    ["email", null],
    ["password", null],
  ]);
  const secret = await entriesOf("POST /api/v1/auths/add", { name: "x", email: "x", password: 5 });
  expect(secret.find(({ loc }) => loc.at(-1) === "password")).toMatchObject({ input: null });
  expect(await entriesOf("POST /api/v1/auths/add")).toMatchObject([{ loc: ["body"], input: null }]);
  const setting = await entriesOf("POST /api/v1/configs/settings", { ENABLE_SIGNUP: "perhaps" });
  expect(setting).toMatchObject([{ loc: ["body", "ENABLE_SIGNUP"], input: null }]);
});
