import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "#test/support/tcp-proxy.ts";
import { isUnavailable, openDatabase, type Database } from "./database.ts";
import { withoutStatementTimeout } from "./statement-timeout.ts";
import { prepareTestDataDir, type TestDataDir } from "./testing.ts";

const limitMs = 1_000;

describe("a server that takes connections and says nothing", () => {
  let place: TestDataDir;
  let proxy: TcpProxy;
  let database: Database;
  beforeEach(async () => {
    place = await prepareTestDataDir({}, "server");
    const url = new URL(place.env.DATABASE_URL!);
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
    Object.assign(url, { hostname: "127.0.0.1", port: String(proxy.port) });
    database = await openDatabase({
      url: url.href,
      dataDir: place.env.DATA_DIR!,
      pool: { size: 2, timeoutSeconds: 2, queryTimeoutSeconds: limitMs / 1000 },
    });
  });
  afterEach(async () => {
    proxy.cut();
    await database.close();
    await proxy.close();
    await place.remove();
  });

  /** Milliseconds until the work fails as unavailable. */
  async function untilRefused(run: () => Promise<unknown>): Promise<number> {
    const begun = performance.now();
    const error: unknown = await run().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isUnavailable(error)).toBe(true);
    return performance.now() - begun;
  }

  const read = () => database.db.selectFrom("user").selectAll().execute();

  test.each<[string, () => Promise<unknown>]>([
    ["a statement", read],
    ["a raw statement", () => database.ping()],
    ["an announcement", () => database.notify("config", 1)],
  ])("%s fails within its limit, and the next ones work as soon as it speaks again", async (_name, run) => {
    await Promise.all([read(), read()]);
    proxy.stall();
    expect(await untilRefused(run)).toBeLessThan(limitMs + 500);
    expect(await untilRefused(run)).toBeLessThan(limitMs + 2_500);
    proxy.restore();
    await expect.poll(() => read().catch(() => undefined), { timeout: 5_000 }).toEqual([]);
  });

  test("a transaction fails once, not with every statement on its way out", async () => {
    const attempt = () =>
      database.transaction(async (tx) => {
        await tx.insertInto("secret").values({ name: "a", value: "b" }).execute();
        proxy.stall();
        await tx.insertInto("secret").values({ name: "c", value: "d" }).execute();
      });
    expect(await untilRefused(attempt)).toBeLessThan(limitMs + 500);
    proxy.restore();
    await expect
      .poll(
        () =>
          database.db
            .selectFrom("secret")
            .selectAll()
            .execute()
            .catch(() => undefined),
        { timeout: 5_000 },
      )
      .toEqual([]);
  });

  test("a statement that takes longer is refused, but not where that is expected", async () => {
    const slow = () =>
      database.db.selectNoFrom((eb) => eb.fn("pg_sleep", [eb.val(1.6)]).as("slept")).execute();
    expect(await untilRefused(slow)).toBeLessThan(limitMs + 500);
    expect(await withoutStatementTimeout(slow)).toHaveLength(1);
    // The late answer of the first reached nobody.
    expect(await read()).toEqual([]);
  });
});
