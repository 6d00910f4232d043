import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { holdClock, leap, passTime } from "#test/support/clock/held-clock.ts";
import { secondsUntil } from "#test/support/clock/now.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { isTimer, runSetting } from "./timers.fixture.ts";

holdClock();
let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage({ isAlone: true, env: { ENABLE_SUBAGENTS: "true", TIMER_POLL_INTERVAL: "6" } });
});
afterAll(() => stage?.close());

it("looks for due timers every TIMER_POLL_INTERVAL seconds, and takes ten at a look", async () => {
  stage.upstream.always(isTimer("Now"), text("It is time."));
  for (let count = 0; count < 12; count++) {
    await runSetting(stage, [{ prompt: "Now", at: "1h" }]);
  }
  const waiting = async () => ((await stage.user.call("GET /api/v1/timers/")).body as object[]).length;
  /**
   * Lets time pass until fewer wait, then lets all fire that this look took; answers when it began, and the seconds until
   * then.
   */
  const nextLook = async (left: number, since: number) => {
    const before = await waiting();
    while ((await waiting()) === before) {
      await passTime(500);
    }
    const waited = -secondsUntil(since);
    const at = Date.now();
    await expect.poll(waiting, { timeout: 20_000 }).toBe(left);
    return { at, waited };
  };
  expect(await waiting()).toBe(12);
  leap(3_600_000);
  const first = await nextLook(2, Date.now());
  expect(first.waited).toBeLessThan(9);
  const second = await nextLook(0, first.at);
  expect(second.waited).toBeGreaterThan(4);
  expect(second.waited).toBeLessThan(9);
});
