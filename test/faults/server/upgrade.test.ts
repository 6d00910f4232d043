import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { report, times } from "#test/support/faults.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { testServer } from "#storage/testing.ts";

const server = testServer();

/** Promise R20: an upgrade is safe. */
describe("several replicas on one fresh database", () => {
  let name: string;
  let url: string;
  let folder: string;

  beforeAll(async () => {
    name = `upgrade_${randomUUID().replaceAll("-", "")}`;
    await run(server as string, `create database ${name}`);
    const address = new URL(server as string);
    address.pathname = `/${name}`;
    url = address.href;
    folder = await mkdtemp(join(tmpdir(), "upgrade-"));
  });

  afterAll(async () => {
    await run(server as string, `drop database if exists ${name} with (force)`);
    await rm(folder, { recursive: true, force: true });
  });

  const start = (at: number) => startProcess({ DATABASE_URL: url, DATA_DIR: join(folder, String(at)) });

  it(
    "one migrates while all start; a process killed on its way leaves a database that the next one finishes",
    { timeout: 600_000 },
    async () => {
      const kills = times(3, 30);
      for (let at = 0; at < kills; at++) {
        const died = startProcess({ DATABASE_URL: url, DATA_DIR: join(folder, `killed${at}`) }).then(
          (started) => started.kill(),
          () => undefined,
        );
        await Promise.race([died, new Promise((resolve) => setTimeout(resolve, 200 + at * 120))]);
      }
      const replicas: ServerProcess[] = await Promise.all([start(1), start(2), start(3)]);
      const ready = await Promise.all(
        replicas.map(async (replica) => (await fetch(`${replica.url}/ready`)).status),
      );
      const twice = await run(
        url,
        "select count(*)::int as tables from information_schema.tables where table_schema = 'migration'",
      );
      await Promise.all(replicas.map((replica) => replica.stop()));
      report("R20", "three replicas at once", {
        ready: ready.filter((status) => status === 200).length,
        "ledgers and locks": twice[0]?.["tables"] as number,
      });
      expect(ready).toEqual([200, 200, 200]);
    },
  );

  it(
    "a database from a newer version is refused in clear words and stays as it is",
    { timeout: 120_000 },
    async () => {
      await run(url, `insert into migration.core (name, executed_at) values ('9999_from_the_future', 1)`);
      await expect(start(4)).rejects.toThrow(/cannot start: .*9999_from_the_future|cannot start: .*newer/is);
    },
  );
});

async function run(address: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query(statement)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
