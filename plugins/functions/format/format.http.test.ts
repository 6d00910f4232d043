import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { formatCode } from "./format-code.ts";

let app: App;

beforeAll(async () => {
  app = await useApp();
});
afterAll(() => app?.close());

const format = async (code: unknown, token: string) =>
  await app.call("POST /api/v1/utils/code/format", { token, body: { code } });

test("administrators lay code out anew", async () => {
  const { token } = await app.admin();
  const answer = await format("export const tools={a:{run({b}:{b:string}){return b}}}", token);
  expect(answer.body).toEqual({
    code: "export const tools = {\n  a: {\n    run({ b }: { b: string }) {\n      return b;\n    },\n  },\n};\n",
  });
  expect((await format(answer.body.code, token)).body).toEqual(answer.body);
  const broken = await format("export const = 1;", token);
  expect(broken.status).toBe(400);
  expect(broken.body.detail).toContain("(1:14)");
  expect((await format(1, token)).status).toBe(422);
  expect((await format("1", (await app.user()).token)).status).toBe(403);
});

test("code that takes too long is given up, and its thread with it", async () => {
  await expect(formatCode(`x = ${"[".repeat(5_000)}`, { deadlineMs: 1 })).rejects.toThrow("too tangled");
});
