import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstAdmin } from "#test/support/client.ts";
import { report } from "#test/support/faults.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { testServer } from "#storage/testing.ts";

const server = testServer();
const longest = 2_000;

/** Security case S99, over processes that share nothing but the database. */
describe("what is taken away on one replica", () => {
  const name = `revoke_${randomUUID().replaceAll("-", "")}`;
  let folder: string;
  let here: ServerProcess;
  let there: ServerProcess;
  let admin: string;
  let count = 0;

  beforeAll(async () => {
    await run(`create database ${name}`);
    folder = await mkdtemp(join(tmpdir(), "revoke-"));
    const url = new URL(server as string);
    url.pathname = `/${name}`;
    const start = (at: number) =>
      startProcess({
        DATABASE_URL: url.href,
        DATA_DIR: join(folder, String(at)),
        USER_PERMISSIONS_FEATURES_API_KEYS: "true",
      });
    [here, there] = await Promise.all([start(1), start(2)]);
    admin = await firstAdmin(here.url);
  }, 120_000);

  afterAll(async () => {
    await Promise.all([here?.stop(), there?.stop()]);
    await run(`drop database if exists ${name} with (force)`);
    await rm(folder, { recursive: true, force: true });
  });

  const send = async (replica: ServerProcess, route: string, token: string, body?: unknown) => {
    const [method, path] = route.split(" ") as [string, string];
    const answer = await fetch(replica.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json() };
  };

  it.each<[string, number, (user: { id: string; token: string }) => Promise<unknown>]>([
    ["signing out", 401, ({ token }) => send(here, "POST /api/v1/auths/signout", token)],
    [
      "a new role",
      401,
      ({ id }) => send(here, `POST /api/v1/users/${id}/update`, admin, { role: "pending" }),
    ],
    [
      "a new password",
      401,
      ({ id }) => send(here, `POST /api/v1/users/${id}/update`, admin, { password: "Another-horse-2" }),
    ],
    ["deleting the account", 401, ({ id }) => send(here, `DELETE /api/v1/users/${id}`, admin)],
  ])("%s ends the session on the other within two seconds", async (what, expected, revoke) => {
    const user = await makeUser();
    // Asked twice, so that the other replica surely remembers the caller.
    const ask = async () => (await send(there, "GET /api/v1/auths", user.token)).status;
    expect([await ask(), await ask()]).toEqual([200, 200]);
    await revoke(user);
    expect(await untilStatus(ask, expected, what)).toBe(true);
  });

  it.each<[string, number, (key: { id: string; token: string; key: string }) => Promise<unknown>]>([
    ["deleting it", 401, ({ token }) => send(here, "DELETE /api/v1/auths/api_key", token)],
    ["making another", 401, ({ token }) => send(here, "POST /api/v1/auths/api_key", token)],
    ["deleting its owner", 401, ({ id }) => send(here, `DELETE /api/v1/users/${id}`, admin)],
    [
      "taking the permission away",
      403,
      () => send(here, "POST /api/v1/users/default/permissions", admin, { features: { api_keys: false } }),
    ],
  ])("%s ends an API key on the other within two seconds", async (what, expected, revoke) => {
    await send(here, "POST /api/v1/users/default/permissions", admin, { features: { api_keys: true } });
    const user = await makeUser();
    const key = (await send(here, "POST /api/v1/auths/api_key", user.token)).body.api_key as string;
    const ask = async () => (await send(there, "GET /api/v1/auths", key)).status;
    expect(await untilStatus(ask, 200, `${what}, before`)).toBe(true);
    await revoke({ ...user, key });
    expect(await untilStatus(ask, expected, `a key by ${what}`)).toBe(true);
  });

  async function makeUser(): Promise<{ id: string; token: string }> {
    count += 1;
    const form = {
      name: `P${count}`,
      email: `p${count}@example.test`,
      password: "Correct-horse-1",
      role: "user",
    };
    await send(here, "POST /api/v1/auths/add", admin, form);
    return (await send(here, "POST /api/v1/auths/signin", admin, form)).body as { id: string; token: string };
  }

  /** Whether the status comes within the promised time. */
  async function untilStatus(ask: () => Promise<number>, wanted: number, what: string): Promise<boolean> {
    const started = performance.now();
    while ((await ask()) !== wanted) {
      if (performance.now() - started > longest) {
        return false;
      }
      await pause(5);
    }
    report("S99", what, { ms: performance.now() - started });
    return true;
  }

  async function run(statement: string): Promise<void> {
    const client = new Client({ connectionString: server });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
});
