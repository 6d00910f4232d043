import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstAdmin } from "#test/support/client.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { testServer } from "#storage/testing.ts";

const server = testServer();

describe("two replicas", () => {
  const name = `functions_${randomUUID().replaceAll("-", "")}`;
  let folder: string;
  let here: ServerProcess;
  let there: ServerProcess;
  let token: string;

  beforeAll(async () => {
    await run(`create database ${name}`);
    folder = await mkdtemp(join(tmpdir(), "functions-"));
    const url = new URL(server as string);
    url.pathname = `/${name}`;
    const start = (at: number) =>
      startProcess({ DATABASE_URL: url.href, DATA_DIR: join(folder, String(at)) });
    [here, there] = await Promise.all([start(1), start(2)]);
    token = await firstAdmin(here.url);
  }, 120_000);

  afterAll(async () => {
    await Promise.all([here?.stop(), there?.stop()]);
    await run(`drop database if exists ${name} with (force)`);
    await rm(folder, { recursive: true, force: true });
  });

  const send = async (replica: ServerProcess, route: string, body?: unknown) => {
    const [method, path] = route.split(" ") as [string, string];
    const answer = await fetch(replica.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as never };
  };
  const answerOf = async (replica: ServerProcess) => {
    const request = { model: "said", messages: [{ role: "user", content: "x" }] };
    const { status, body } = await send(replica, "POST /api/chat/completions", request);
    const { choices } = body as { choices?: { message: { content: string } }[] };
    return choices?.[0]?.message.content ?? status;
  };
  const soon = { timeout: 2_000, interval: 20 };

  it("see a function, its code, its valves and its switch at once", async () => {
    const code = (text: string) => `export const valves = { mark: { type: "string", default: "" } };
      export const userValves = { tone: { type: "string", default: "" } };
      export function pipe(body, { valves, userValves }) { return "${text}" + valves.mark + userValves.tone; }`;
    const at = "/api/v1/functions/id/said";
    const form = { id: "said", name: "Said", content: code("one"), meta: {} };
    expect((await send(here, "POST /api/v1/functions/create", form)).status).toBe(200);
    expect(await answerOf(there)).toBe(404);
    await send(here, `POST ${at}/toggle`);
    expect(await answerOf(here)).toBe("one");
    await expect.poll(() => answerOf(there), soon).toBe("one");
    await send(there, `POST ${at}/update`, { name: "Said", content: code("two") });
    expect(await answerOf(there)).toBe("two");
    await expect.poll(() => answerOf(here), soon).toBe("two");
    await send(here, `POST ${at}/valves/update`, { mark: "!" });
    await expect.poll(() => answerOf(there), soon).toBe("two!");
    await send(there, `POST ${at}/valves/user/update`, { tone: "?" });
    await expect.poll(() => answerOf(here), soon).toBe("two!?");
    await send(there, `POST ${at}/toggle`);
    expect(await answerOf(there)).toBe(404);
    await expect.poll(() => answerOf(here), soon).toBe(404);
  });

  async function run(statement: string): Promise<void> {
    const client = new Client({ connectionString: server as string });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
});
