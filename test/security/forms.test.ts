import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let app: App;
let user: TestUser;

beforeAll(async () => {
  app = await startApp();
  user = await app.user();
});
afterAll(() => app?.close());

describe("a form", () => {
  const boundary = "b";
  const send = (body: string | Buffer, type = `multipart/form-data; boundary=${boundary}`) =>
    user.call("POST /api/v1/files/", body as string, { "content-type": type });

  it.each<[string, () => string | Buffer]>([
    ["a megabyte of dashes", () => `--${"-".repeat(1_000_000)}`],
    [
      "100,000 fields",
      () => `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n`.repeat(100_000) + "--b--",
    ],
    [
      "a part header of a megabyte",
      () => `--b\r\ncontent-disposition: form-data; name="${"a".repeat(1_000_000)}"\r\n\r\n1\r\n--b--`,
    ],
    ["100,000 header lines in a part", () => `--b\r\n${"x: y\r\n".repeat(100_000)}\r\n1\r\n--b--`],
    ["a boundary that almost ends", () => "\r\n--".repeat(250_000)],
    ["random bytes", () => randomBytes(1_000_000)],
    ["nothing", () => ""],
  ])("of %s is refused soon, and the server goes on (S119)", async (_what, make) => {
    const started = performance.now();
    expect([400, 413]).toContain((await send(make())).status);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect((await app.call("GET /health")).status).toBe(200);
  });

  it("whose metadata is nested a hundred thousand times, or reaches for a prototype, is refused in words", async () => {
    const stored = async () => (await user.call("GET /api/v1/files/count")).body.count;
    const before = await stored();
    for (const metadata of [
      `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      '{"__proto__":{"isAdmin":true}}',
    ]) {
      const form = new FormData();
      form.append("file", new File(["x"], "a.txt", { type: "text/plain" }));
      form.append("metadata", metadata);
      const got = await user.call("POST /api/v1/files/", form);
      expect([got.status, got.body.detail]).toEqual([400, "The form field metadata is not valid JSON."]);
    }
    expect(await stored()).toBe(before);
  });
});
