import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApp } from "#test/support/app.ts";
import { type PostgresServer, startPostgres } from "#test/support/postgres.ts";
import { fill, filledEnvironment as env } from "./filled.fixture.ts";
import { readTables, withClient } from "./read-tables.ts";

const run = promisify(execFile);

/** The newest installation of the system that has server and client programs. */
const installation = globSync("/usr/lib/postgresql/*/bin/pg_dump")
  .map((program) => dirname(dirname(program)))
  .filter((folder) => existsSync(join(folder, "bin/postgres")))
  .toSorted((one, other) => Number(one.split("/").at(-1)) - Number(other.split("/").at(-1)))
  .at(-1);
const title = installation ? "a dump" : "a dump (skipped: no pg_dump below /usr/lib/postgresql)";

describe.skipIf(!installation)(title, () => {
  const program = (name: string) => join(installation!, "bin", name);
  let folder: string;
  let source: PostgresServer;
  let before: Awaited<ReturnType<typeof readTables>>;
  let chatId: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "dump-"));
    source = await startPostgres(installation);
    const app = await startApp({ env: { ...env, DATABASE_URL: source.url } });
    try {
      chatId = await fill(app);
    } finally {
      await app.close();
    }
    before = await readTables(source.url);
  });
  afterAll(async () => {
    await source?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("is taken of filled tables", () => {
    const filled = Object.keys(before).filter((name) => before[name]!.rows > 0);
    expect(filled).toEqual(expect.arrayContaining(["public.chat", "public.chat_message", "public.file"]));
    expect(filled.length).toBeGreaterThan(60);
  });

  describe.each([
    { version: "the same version", place: installation, options: [] },
    // That of the packages is built without this way of compression.
    { version: "a newer version", place: undefined, options: ["--no-toast-compression"] },
  ])("on a fresh server of $version", ({ place, options }) => {
    let target: PostgresServer;
    beforeAll(async () => {
      target = await startPostgres(place);
    });
    afterAll(() => target?.stop());

    test.each(["custom", "plain"])(
      "in %s form comes back whole, and the platform starts on it",
      async (format) => {
        const dump = join(folder, format);
        await run(program("pg_dump"), [`--format=${format}`, `--file=${dump}`, ...options, source.url]);
        const url = await createDatabase(target, format);
        await (format === "plain"
          ? run(program("psql"), ["--quiet", "--set=ON_ERROR_STOP=1", `--file=${dump}`, url])
          : run(program("pg_restore"), ["--exit-on-error", `--dbname=${url}`, dump]));
        expect(await readTables(url)).toEqual(before);

        const app = await startApp({ env: { ...env, DATABASE_URL: url } });
        const body = { email: "admin@example.test", password: "Correct-horse-1" };
        const { token } = (await app.call("POST /api/v1/auths/signin", { body })).body;
        const found = await app.call("GET /api/v1/chats/search?text=kingfisher", { token });
        expect(found.body.map(({ id }: { id: string }) => id)).toEqual([chatId]);
        await app.close();
      },
    );
  });
});

async function createDatabase(server: PostgresServer, name: string): Promise<string> {
  await withClient(server.url, (client) => client.query(`create database ${name}`));
  return new URL(`/${name}`, server.url).href;
}
