import { expect, it } from "vitest";
import { catalogue } from "#plugins/catalogue.ts";
import { firstAdmin } from "#test/support/client.ts";
import { report, times } from "#test/support/faults.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";

/** Promise R22: the embedded database survives a killed process. */
it(
  "opens after every kill -9 under writes, with every acknowledged row; a second process is refused",
  { timeout: 1_800_000 },
  async () => {
    const place = await preparePlatformDataDir(catalogue, "embedded");
    const { env } = place;
    const kills = times(3, 100);
    const acknowledged: string[] = [];
    let server = await startProcess(env);
    const token = await firstAdmin(server.url);
    try {
      const second = await startProcess(env).then(
        async (started) => {
          await started.kill();
          return "it started";
        },
        (error: Error) => error.message,
      );
      expect(second).toMatch(/cannot start: .*(in use|another process|already)/is);

      for (let round = 0; round < kills; round++) {
        await writeUntilKilled(server, token, acknowledged, 150 + ((round * 97) % 900));
        server = await startProcess(env);
        const missing = await missingOf(server.url, token, acknowledged);
        expect(missing).toEqual([]);
      }
      report("R22", "kill -9 under writes", { kills, "acknowledged rows": acknowledged.length, lost: 0 });
      expect(acknowledged.length).toBeGreaterThan(kills);
    } finally {
      await server.kill();
      await place.remove();
    }
  },
);

/**
 * Four writers create groups; a name counts once the server has answered 200. The kill comes `ms` after the first one did,
 * however long a busy machine took to get there.
 */
async function writeUntilKilled(
  server: ServerProcess,
  token: string,
  acknowledged: string[],
  ms: number,
): Promise<void> {
  let isAlive = true;
  const before = acknowledged.length;
  const writers = Array.from({ length: 4 }, async () => {
    while (isAlive) {
      const name = `group ${crypto.randomUUID()}`;
      try {
        const answer = await fetch(`${server.url}/api/v1/groups/create`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ name, description: "" }),
        });
        if (answer.status === 200) {
          acknowledged.push(name);
        }
      } catch {
        isAlive = false;
      }
    }
  });
  await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(before);
  await new Promise((resolve) => setTimeout(resolve, ms));
  await server.kill();
  isAlive = false;
  await Promise.all(writers);
}

async function missingOf(url: string, token: string, names: readonly string[]): Promise<string[]> {
  const answer = await fetch(`${url}/api/v1/groups/`, { headers: { authorization: `Bearer ${token}` } });
  const found = new Set(((await answer.json()) as { name: string }[]).map(({ name }) => name));
  return names.filter((name) => !found.has(name));
}
