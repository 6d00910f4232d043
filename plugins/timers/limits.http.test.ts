import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { runSetting } from "./timers.fixture.ts";

let stage: RunStage;
const call = (route: string) => stage.user.call(route);
const waiting = async () => (await call("GET /api/v1/timers")).body as { id: string }[];

beforeAll(async () => {
  stage = await startRunStage({
    // It counts every timer of a person.
    isAlone: true,
    env: { ENABLE_SUBAGENTS: "true", CHAT_RESPONSE_STOP_REPEATED_TOOL_CALLS: "false" },
  });
});
afterAll(() => stage?.close());

it(
  "refuses the 101st timer of a person, in however many chats the others wait",
  { timeout: 240_000 },
  async () => {
    const twenty = Array.from({ length: 20 }, (_, at) => ({ prompt: `Many ${at}`, at: "1h" }));
    for (let count = 0; count < 5; count++) {
      const { values } = await runSetting(stage, twenty);
      expect(values.every((value) => value.status === "waiting")).toBe(true);
    }
    expect(await waiting()).toHaveLength(100);
    const last = await runSetting(stage, [{ prompt: "One more", at: "1h" }]);
    expect(last.values).toEqual(["Error: 100 timers of this person wait, and no more may."]);
    expect(await waiting()).toHaveLength(100);
    const [{ id }] = (await waiting()) as [{ id: string }];
    await call(`POST /api/v1/timers/${id}/cancel`);
    const freed = await runSetting(stage, [{ prompt: "One more", at: "1h" }]);
    expect(freed.values).toMatchObject([{ status: "waiting" }]);
  },
);
