import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { databaseUrl } from "#config/core-database.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { type App, startApp } from "#test/support/app.ts";
import { makeStage } from "../realtime.fixture.ts";

const redisUrl = process.env["TEST_REDIS_URL"];

describe.skipIf(!redisUrl)("deployments on one Redis with one prefix (needs TEST_REDIS_URL)", () => {
  const apps: App[] = [];
  const hubs: Hub[] = [];
  const prefix = `test-${randomUUID()}`;

  /** Starts a replica; what it knows of the topic "place" is its own number. */
  async function start(env: Record<string, string> = {}): Promise<App> {
    const { plugin, stage } = makeStage();
    const app = await startApp({
      plugins: [plugin],
      env: { REDIS_URL: redisUrl as string, REDIS_KEY_PREFIX: prefix, ...env },
    });
    const number = apps.push(app);
    hubs.push(stage.hub);
    stage.hub.contribute("place", () => number);
    return app;
  }

  beforeAll(async () => {
    const first = await start();
    await start();
    await start({ DATABASE_URL: databaseUrl(first.running.config) as string });
  });

  afterAll(async () => {
    // The third one works in the database of the first.
    for (const app of apps.toReversed()) {
      await app.close();
    }
  });

  test("replicas of one database hear each other and nobody else", async () => {
    await vi.waitFor(async () => expect(await hubs[0]?.collect("place")).toEqual([1, 3]));
    expect(await hubs[1]?.collect("place")).toEqual([2]);
    expect(await hubs[2]?.collect("place")).toEqual([3, 1]);
  });
});
