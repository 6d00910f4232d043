import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { isTimer, runSetting } from "./timers.fixture.ts";

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage({ env: { ENABLE_SUBAGENTS: "true", TIMER_POLL_INTERVAL: "6" } });
});
afterAll(() => stage?.close());

it("looks for due timers every TIMER_POLL_INTERVAL seconds, and takes ten at a look", async () => {
  stage.upstream.always(isTimer("Now"), text("It is time."));
  const at = new Date(Date.now() + 10_000).toISOString();
  for (let count = 0; count < 12; count++) {
    await runSetting(stage, [{ prompt: "Now", at }]);
  }
  const waiting = async () =>
    (await stage.app.call("GET /api/v1/timers/", { token: stage.user.token })).body as { due_at: number }[];
  const due = (await waiting())[0]!.due_at * 1_000;
  expect(Date.now(), "all are set before the first is due").toBeLessThan(due);
  const wait = async (count: number) => {
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(count), {
      timeout: 30_000,
      interval: 50,
    });
    return Date.now();
  };
  await wait(12);
  const first = await wait(2);
  expect(first - due).toBeLessThan(9_000);
  const second = await wait(0);
  expect(second - first).toBeGreaterThan(4_000);
  expect(second - first).toBeLessThan(9_000);
});
