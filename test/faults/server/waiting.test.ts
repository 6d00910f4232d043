import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { startApp } from "#test/support/app.ts";
import { openStream } from "#test/support/client.ts";
import { report } from "#test/support/faults.ts";
import { tokens } from "#test/support/upstream-scripts.ts";
import { startUpstream } from "#test/support/upstream.ts";
import { testServer } from "#storage/testing.ts";

const streams = 200;

/** Promise R15: no connection is held while waiting. */
describe("200 streams over a pool of 20", () => {
  it("keep no transaction open and starve nobody", { timeout: 120_000 }, async () => {
    const upstream = await startUpstream();
    upstream.models = ["alpha"];
    upstream.always("/chat/completions", tokens(60, 50));
    const app = await startApp({
      env: {
        OPENAI_API_BASE_URLS: upstream.url,
        DATABASE_POOL_SIZE: "20",
        DATABASE_POOL_TIMEOUT: "5",
        LIMIT_CONCURRENT_COMPLETIONS: "0",
      },
    });
    const watcher = new Client({ connectionString: testServer() });
    await watcher.connect();
    try {
      const { token } = await app.admin();
      const { rows } = await app.running.database.query("select current_database() as name");
      const open = Array.from({ length: streams }, () =>
        openStream(app.url, token, { model: "alpha", messages: [{ role: "user", content: "Hi" }] }),
      );
      let worst = 0;
      let failures = 0;
      const running = { on: true };
      const watch = (async () => {
        while (running.on) {
          const idle = await watcher.query(
            "select coalesce(max(extract(epoch from now() - state_change)), 0)::float8 as age from pg_stat_activity where datname = $1 and state = 'idle in transaction'",
            [rows[0].name],
          );
          worst = Math.max(worst, idle.rows[0].age);
          const { status } = await app.call("GET /api/v1/users/user/settings", { token });
          failures += status === 200 ? 0 : 1;
        }
      })();
      const texts = await Promise.all(open.map(async (stream) => (await stream).rest()));
      running.on = false;
      await watch;
      const whole = texts.filter((text) => text.includes("t59 ")).length;
      report("R15", "200 streams, pool 20", {
        whole,
        "longest idle in transaction s": worst,
        "failed requests beside": failures,
      });
      expect([whole, failures]).toEqual([streams, 0]);
      expect(worst).toBeLessThan(1);
    } finally {
      await watcher.end();
      await app.close();
      await upstream.close();
    }
  });
});
