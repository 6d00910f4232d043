import { fork } from "node:child_process";
import { on, once } from "node:events";
import { mkdtemp, mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "./database.ts";
import { lockFolder } from "./embedded/lock.ts";
import { prepareTestDataDir, type TestDataDir } from "./testing.ts";

const script = new URL("process.fixture.ts", import.meta.url).pathname;

/** Starts a process that opens the folder and does `task`; resolves to it and its first message. */
async function start(dataDir: string, task: string) {
  const child = fork(script, [dataDir, task], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [message] = (await once(child, "message")) as [string];
  return { child, message };
}

async function kill(child: ReturnType<typeof fork>): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

describe("folder of the embedded database", () => {
  let place: TestDataDir;
  beforeAll(async () => {
    place = await prepareTestDataDir({}, "embedded");
  });
  afterAll(() => place.remove());

  test("refuses a second opener with a message that says what to do, and opens again after a close", async () => {
    const dataDir = place.env.DATA_DIR!;
    const first = await openDatabase({ dataDir });
    await expect(openDatabase({ dataDir })).rejects.toThrow(
      /Another process already uses .*DATA_DIR.*DATABASE_URL/,
    );
    const { child, message } = await start(dataDir, "open");
    expect(message).toMatch(/Another process already uses/);
    await kill(child);
    await first.ping();
    await first.close();
    const second = await openDatabase({ dataDir });
    await second.close();
    expect((await readdir(dataDir)).filter((name) => name.startsWith("database.lock"))).toEqual([]);
  });

  test("keeps every acknowledged row through kill -9, and opens again each time", async () => {
    const dataDir = place.env.DATA_DIR!;
    let acknowledged = 0;
    for (let round = 0; round < 4; round += 1) {
      const { child, message } = await start(dataDir, "write");
      expect(message).toMatch(/^\d+$/);
      const enough = Number(message) + 25;
      for await (const [text] of on(child, "message") as AsyncIterable<[string]>) {
        acknowledged = Number(text);
        if (acknowledged >= enough) {
          break;
        }
      }
      await kill(child);
    }
    const database = await openDatabase({ dataDir });
    const { rows } = await database.query("select count(*) as n, max(jti::int) as last from revoked_token");
    expect(rows[0].last).toBeGreaterThanOrEqual(acknowledged);
    expect(rows[0].n).toBe(rows[0].last);
    await database.close();
  });

  test("lets exactly one of several have a folder whose owner was killed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lock-"));
    const { child, message } = await start(folder, "lock");
    expect(message).toBe("locked");
    await kill(child);
    expect(await readdir(folder)).toEqual(["database.lock"]);
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder, () => {})));
    const got = tries.filter((entry) => entry.status === "fulfilled");
    expect(got).toHaveLength(1);
    await got[0]!.value.verify();
    expect(await readdir(folder)).toEqual(["database.lock"]);
    await got[0]!.value.release();
    await rm(folder, { recursive: true });
  });

  test("notices that its lock was taken over", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lock-"));
    const lock = await lockFolder(folder, () => {});
    await rm(join(folder, "database.lock"));
    const other = await lockFolder(folder, () => {});
    await expect(lock.verify()).rejects.toThrow(/Another process/);
    await lock.release();
    await expect(other.verify()).resolves.toBeUndefined();
    await other.release();
    await rm(folder, { recursive: true });
  });

  test("locks a folder whose path is longer than a socket's may be", async () => {
    const root = await mkdtemp(join(tmpdir(), "lock-"));
    const folder = join(root, "d".repeat(120));
    await mkdir(folder);
    const lock = await lockFolder(folder, () => {});
    await expect(lockFolder(folder, () => {})).rejects.toThrow(/Another process/);
    await lock.release();
    await (await lockFolder(folder, () => {})).release();
    await rm(root, { recursive: true });
  });
});
