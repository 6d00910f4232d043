// Takes long: commands are killed at many moments, and begin again.
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { catalogue } from "#plugins/catalogue.ts";
import { openDatabase } from "#storage/database.ts";
import type { TestDataDir } from "#storage/testing.ts";
import { report, times } from "#test/support/faults.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { startCommand } from "#test/support/process.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";

const kills = times(3, 10);
const messages = times(5_000, 100_000);
let source: TestDataDir;
let folder: string;

beforeAll(async () => {
  folder = await createTestFolder({});
  source = await preparePlatformDataDir(catalogue, "server");
  const database = await openDatabase({ url: source.env["DATABASE_URL"], dataDir: folder });
  await database.query(`
    insert into "user" (id, email, name, role, created_at, updated_at, last_active_at)
      values ('u', 'u@example.com', 'U', 'admin', 1, 1, 1);
    insert into chat (id, user_id, title, chat, created_at, updated_at) values ('c', 'u', 'Long', '{}', 1, 1);
    insert into chat_message (chat_id, user_id, id, parent_id, position, role, content, extra, created_at, updated_at)
      select 'c', 'u', 'm' || n, nullif('m' || n - 1, 'm0'), 0, case when n % 2 = 1 then 'user' else 'assistant' end,
        to_jsonb('message ' || n || repeat(' text', 100)), '{}', n, n from generate_series(1, ${messages}) as n`);
  await database.close();
});
afterAll(async () => {
  await source?.remove();
  await removeTestFolder(folder);
});

/** Runs a command to its end and resolves to how long it took; throws what it printed when it failed. */
async function run(env: Record<string, string>, args: readonly string[]): Promise<number> {
  const started = performance.now();
  const { code, output } = await startCommand(env, args).ended;
  expect(code, output).toBe(0);
  return performance.now() - started;
}

/** Kills a command at moments spread over the time that it takes. */
async function* killed(ms: number, env: Record<string, string>, args: readonly string[]) {
  for (let at = 1; at <= kills; at += 1) {
    const { child, ended } = startCommand(env, args);
    await Promise.race([pause((ms * at) / (kills + 1)), ended]);
    child.kill("SIGKILL");
    yield await ended;
  }
}

test(
  "a backup that is killed leaves no archive or a whole one, and the next one is whole",
  { timeout: 900_000 },
  async () => {
    const backups = join(folder, "backups");
    const env = source.env;
    const ms = await run(env, ["backup", join(folder, "measured.tar.gz")]);
    const one = join(backups, "one.tar.gz");
    let whole = 0;
    for await (const { code } of killed(ms, env, ["backup", one])) {
      // The archive gets its name once it is whole; a process can be killed after that and before its own end.
      if (existsSync(one)) {
        await run({ DATA_DIR: join(folder, `scratch-${code ?? "killed"}`) }, ["restore", "--verify", one]);
        await rm(one);
        whole += 1;
      }
    }
    const last = join(backups, "last.tar.gz");
    await run(env, ["backup", last]);
    expect((await readdir(backups)).filter((name) => name.endsWith("unfinished"))).toEqual([]);
    await run({ DATA_DIR: join(folder, "scratch") }, ["restore", "--verify", last]);
    report("Backup", "killed", { kills, messages, "whole before the kill": whole, "whole afterwards": 1 });
  },
);

test(
  "a restore that is killed leaves nothing half restored, and can be run again",
  { timeout: 900_000 },
  async () => {
    const archive = join(folder, "measured.tar.gz");
    const ms = await run({ DATA_DIR: join(folder, "measured") }, ["restore", archive]);
    const env = { DATA_DIR: join(folder, "killed") };
    let complete = 0;
    for await (const { code, output } of killed(ms, env, ["restore", archive])) {
      complete += code === 0 || output.includes("in use") ? 1 : 0;
    }
    const { code, output } = await startCommand(env, ["restore", archive]).ended;
    // Only one that had been kept whole keeps the next one out.
    expect(code === 0 || output.includes("1 accounts are in it")).toBe(true);
    const database = await openDatabase({ dataDir: env.DATA_DIR });
    const { rows } = await database.query("select count(*)::int as count from chat_message");
    await database.close();
    expect(rows[0].count).toBe(messages);
    report("Restore", "killed", { kills, messages, "kept before the last": complete });
  },
);
