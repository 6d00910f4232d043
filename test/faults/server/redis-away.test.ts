import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startApp } from "#test/support/app.ts";
import { startProcess } from "#test/support/process.ts";
import { startTcpProxy } from "#test/support/tcp-proxy.ts";

const redisUrl = process.env["TEST_REDIS_URL"];

describe("a Redis that does not answer", () => {
  it("stops the start in words that name it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "realtime-"));
    const environment = {
      DATA_DIR: folder,
      REDIS_URL: "redis://:secret@127.0.0.1:1",
      REDIS_SOCKET_CONNECT_TIMEOUT: "1",
    };
    const failure = await startProcess(environment).then(
      (running) => running.stop(),
      (error: Error) => error.message,
    );
    expect(failure).toContain("Redis at 127.0.0.1:1 does not answer (connect ECONNREFUSED 127.0.0.1:1)");
    expect(failure).toContain("leave REDIS_URL out");
    expect(failure).not.toContain("secret");
    await rm(folder, { recursive: true, force: true });
  });

  it.skipIf(!redisUrl)("is named by the probes while it is away, and the database is not", async () => {
    const { hostname, port } = new URL(redisUrl as string);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const app = await startApp({ env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}` } });
    const probe = async (path: string) => {
      const { status, body } = await app.call(`GET ${path}`);
      return [status, body.detail];
    };
    try {
      expect(await probe("/ready")).toEqual([200, undefined]);
      proxy.cut();
      await expect.poll(() => probe("/ready")).toEqual([503, "Redis does not answer."]);
      expect(await probe("/health/db")).toEqual([200, undefined]);
      proxy.restore();
      await expect.poll(() => probe("/ready")).toEqual([200, undefined]);
    } finally {
      proxy.restore();
      await app.close();
      await proxy.close();
    }
  });
});
