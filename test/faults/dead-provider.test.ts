import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { percentile, report, times } from "#test/support/faults.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let upstreams: Upstream[];
let app: App;

beforeAll(async () => {
  upstreams = await Promise.all(Array.from({ length: 5 }, () => startUpstream()));
  upstreams.forEach((upstream, at) => (upstream.models = [`model-${at}`]));
  upstreams[4]?.blackHole(true);
  app = await startApp({
    env: {
      OPENAI_API_BASE_URLS: upstreams.map(({ url }) => url).join(";"),
      AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST: "1",
    },
  });
});

afterAll(async () => {
  await app.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

/** Promise R13: a dead provider does not slow pages. */
it("one black hole of five: the list stays quick, and the provider is back soon after it recovers", async () => {
  const { token } = await app.admin();
  const list = async () => {
    const started = performance.now();
    const { body } = await app.call("GET /api/models", { token });
    return { ms: performance.now() - started, ids: (body.data as { id: string }[]).map(({ id }) => id) };
  };
  const waits: number[] = [];
  let ids: string[] = [];
  for (let at = 0; at < times(60, 600); at++) {
    const answer = await list();
    waits.push(answer.ms);
    ids = answer.ids;
  }
  expect(ids).toEqual(expect.arrayContaining(["model-0", "model-1", "model-2", "model-3"]));
  expect(ids).not.toContain("model-4");

  upstreams[4]?.blackHole(false);
  const recovered = performance.now();
  await expect.poll(async () => (await list()).ids, { timeout: 35_000, interval: 250 }).toContain("model-4");
  const backMs = performance.now() - recovered;
  report("R13", "one of five black-holed", { "list p95 ms": percentile(waits, 95), "back after ms": backMs });
  expect(percentile(waits, 95)).toBeLessThan(300);
  expect(backMs).toBeLessThan(30_000);
});
