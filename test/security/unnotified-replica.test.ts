import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDataDir } from "#storage/testing.ts";
import { type App, startApp } from "#test/support/app.ts";
import { startTcpProxy, type TcpProxy } from "#test/support/tcp-proxy.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";

/** Security case S99, on a replica that reaches the database and gets no notifications. */
describe("a replica without notifications", () => {
  let place: TestDataDir;
  let proxy: TcpProxy;
  let here: App;
  let there: App;
  beforeAll(async () => {
    place = await preparePlatformDataDir();
    const url = new URL(place.env["DATABASE_URL"] as string);
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
    here = await startApp({ env: place.env });
    Object.assign(url, { hostname: "127.0.0.1", port: String(proxy.port) });
    there = await startApp({ env: { ...place.env, DATABASE_URL: url.href } });
  }, 120_000);
  afterAll(async () => {
    proxy?.restore();
    await there?.close();
    await here?.close();
    await proxy?.close();
    await place?.remove();
  });

  const ask = async (token: string) => (await there.call("GET /api/v1/users/permissions", { token })).status;

  it("refuses a session that ended elsewhere, and others not", async () => {
    const [gone, kept] = [await here.user(), await here.user()];
    expect([await ask(gone.token), await ask(kept.token)]).toEqual([200, 200]);
    proxy.cutListeners();
    // The other end has to see that its connection broke.
    await pause(200);
    await here.call("POST /api/v1/auths/signout", { token: gone.token });
    expect([await ask(gone.token), await ask(kept.token)]).toEqual([401, 200]);
    proxy.restore();
  });

  it.each(["cut", "stall"] as const)(
    "keeps people signed in while the database is away (%s)",
    async (how) => {
      const { token } = await here.user();
      expect(await ask(token)).toBe(200);
      proxy[how]();
      await pause(200);
      expect([await ask(token), await ask(token)]).toEqual([200, 200]);
      proxy.restore();
    },
  );
});
