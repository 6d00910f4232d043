import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { testPython } from "#test/support/python.ts";
import { base, scimToken, startScim } from "./scim.fixture.ts";

interface Result {
  readonly status: string;
  readonly title: string;
  readonly resource: string | null;
  readonly reason: string | null;
}

let app: App;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
});

afterAll(() => app?.close());

it.skipIf(testPython === undefined)(
  "scim2-tester finds no fault in the running server",
  { timeout: 180_000 },
  async () => {
    const script = fileURLToPath(new URL("scim2-tester.fixture.py", import.meta.url));
    const run = promisify(execFile);
    const { stdout } = await run(testPython as string, [script, app.url + base, scimToken]);
    const results = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Result);
    const faults = results.filter(({ status }) => status === "ERROR" || status === "CRITICAL");
    expect(faults).toEqual([]);
    expect(results.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(40);
  },
);
