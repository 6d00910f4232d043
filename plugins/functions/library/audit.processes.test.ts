import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDataDir } from "#storage/testing.ts";
import { firstAdmin } from "#test/support/client.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";

let place: TestDataDir;
let server: ServerProcess;

beforeAll(async () => {
  place = await preparePlatformDataDir(undefined, "server");
  server = await startProcess({ ...place.env, LOG_FORMAT: "json" });
});

afterAll(async () => {
  await server?.stop();
  await place?.remove();
});

it("what a function was refused stands in the log, with who ran it (promise S69)", async () => {
  const token = await firstAdmin(server.url);
  const content = `export const meta = { capabilities: { fetch: ["127.0.0.1:9"] } };
    export async function pipe(body, { host }) {
      const said = [];
      for (const run of [() => host.fetch("http://127.0.0.1:9/"), () => host.fetch("https://elsewhere.test/"),
        () => host.storage.get("x"), () => host.complete({})]) {
        try { await run(); } catch (error) { said.push(error.message); } }
      return said; }`;
  const answer = await fetch(`${server.url}/api/v1/functions/dry-run`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ content, hook: "pipe" }),
  });
  const { result } = (await answer.json()) as { result: string[] };
  expect(result.length).toBe(4);
  const lines = server
    .output()
    .split("\n")
    .filter((line) => line.includes('"audit":"denied"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ host }) => host)).toEqual(["fetch", "fetch", "storage.get", "complete"]);
  expect(lines.every(({ user, reason, plugin }) => Boolean(user && reason) && plugin === "functions")).toBe(
    true,
  );
});
