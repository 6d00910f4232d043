import type { RunStage } from "#plugins/runs/runs.fixture.ts";
import { runScripted } from "#plugins/runs/runs.fixture.ts";
import { endsWith } from "#plugins/subagents/subagents.fixture.ts";

/** True for requests whose newest message tells of a timer with this note. */
export const isTimer = (note: string) => {
  const isOfSystem = endsWith("[Message of the system, not of the user] The timer");
  return (request: Parameters<typeof isOfSystem>[0]) =>
    isOfSystem(request) && request.body?.messages.at(-1).content.endsWith(note) === true;
};

/** Runs a reply whose model sets these timers. */
export async function runSetting(
  stage: RunStage,
  timers: readonly object[],
  more: Parameters<typeof runScripted>[2] = {},
) {
  return await runScripted(
    stage,
    timers.map((args) => ({ name: "timer", args })),
    more,
  );
}
