import { afterEach, beforeEach, expect, it } from "vitest";
import type { TestDataDir } from "#storage/testing.ts";
import { report, times } from "#test/support/faults.ts";
import { firstAdmin, openStream } from "#test/support/client.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { tokens } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

// Answers of two seconds must end within it, also beside other suites.
const graceSeconds = times(8, 4);
const finishers = 45;
const hangers = 5;

let upstream: Upstream;
let server: ServerProcess;
let place: TestDataDir;

// For each try: a server that was stopped serves no second one.
beforeEach(async () => {
  place = await preparePlatformDataDir();
  upstream = await startUpstream();
  upstream.models = ["alpha"];
  upstream.always(({ body }) => body?.seed === 1, tokens(40, 50));
  upstream.always(({ body }) => body?.seed === 2, tokens(4000, 50));
  server = await startProcess({
    ...place.env,
    OPENAI_API_BASE_URLS: upstream.url,
    SHUTDOWN_GRACE_SECONDS: String(graceSeconds),
  });
});

afterEach(async () => {
  await server?.kill();
  await upstream?.close();
  await place?.remove();
});

/** Promise R11: graceful stop. */
it("SIGTERM with 50 streams: unready at once, finishers finish, the rest is broken off in time", async () => {
  const token = await firstAdmin(server.url);
  const open = (seed: number) =>
    openStream(server.url, token, { model: "alpha", seed, messages: [{ role: "user", content: "Hi" }] });
  const streams = await Promise.all([
    ...Array.from({ length: finishers }, () => open(1)),
    ...Array.from({ length: hangers }, () => open(2)),
  ]);
  const asked = performance.now();
  const exited = server.stop().then((code) => ({ code, ms: performance.now() - asked }));

  const refusedAfter = await untilRefused(`${server.url}/ready`, asked);
  const texts = await Promise.all(streams.map((stream) => stream.rest()));
  const whole = texts
    .slice(0, finishers)
    .filter((text) => text.includes("t39 ") && text.includes("[DONE]")).length;
  const { code, ms } = await exited;

  report("R11", "stop with 50 streams", {
    "unready ms": refusedAfter,
    "finished %": (100 * whole) / finishers,
    "exit ms": ms,
    "exit code": code ?? -1,
  });
  // The figures of the promise are for a machine of its own: beside other suites every write to the disk waits.
  expect(refusedAfter).toBeLessThan(times(5000, 1000));
  expect(whole).toBe(finishers);
  expect(texts.slice(finishers).every((text) => text.includes("t0 ") && !text.includes("[DONE]"))).toBe(true);
  expect(code).toBe(0);
  expect(ms).toBeLessThan((graceSeconds + times(40, 2)) * 1000);
});

/** Milliseconds until the address refuses or answers 503. */
async function untilRefused(url: string, since: number): Promise<number> {
  for (;;) {
    const status = await fetch(url).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status !== 200) {
      return performance.now() - since;
    }
  }
}
