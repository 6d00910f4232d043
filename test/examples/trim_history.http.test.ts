import { afterAll, beforeAll, expect, it } from "vitest";
import { text } from "#test/support/upstream-scripts.ts";
import { openStage, says, type Stage } from "./examples.fixture.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage(["alpha"]);
  stage.upstream.always("/chat/completions", text("ok"));
  await stage.install("trim_history", { valves: { turns: 2 } });
});

afterAll(() => stage.close());

const call = { id: "c1", type: "function", function: { name: "clock", arguments: "{}" } };
const withTools = [
  says("system", "Be brief."),
  says("user", "one"),
  says("assistant", "1"),
  says("user", "two"),
  says("assistant", null, { tool_calls: [call] }),
  says("tool", "noon", { tool_call_id: "c1" }),
  says("assistant", "2"),
  says("user", "three"),
];
const note = "Earlier messages of this conversation were left out.";

/** The contents that the model got. */
async function sent(messages: object[], user = stage.admin) {
  stage.asked();
  expect((await stage.ask({ messages, stream: true }, user)).status).toBe(200);
  return stage.asked()[0].messages.map(({ content }: { content: unknown }) => content);
}

it("keeps the system message and the last turns, tool calls with their results", async () => {
  expect(await sent(withTools)).toEqual([`Be brief.\n\n${note}`, "two", null, "noon", "2", "three"]);
});

it("leaves a short conversation as it is", async () => {
  expect(await sent(withTools.slice(3))).toEqual(["two", null, "noon", "2", "three"]);
  expect(await sent(withTools.slice(1))).toEqual([note, "two", null, "noon", "2", "three"]);
});

it("counts characters besides turns, and never drops the question", async () => {
  await stage.post("/api/v1/functions/id/trim_history/valves/update", { turns: 5, characters: 30, note: "" });
  const long = [says("user", "a".repeat(25)), says("assistant", "b"), says("user", "c".repeat(10))];
  expect(await sent(long)).toEqual(["c".repeat(10)]);
  expect(await sent([...long, says("assistant", "d"), says("user", "e")])).toEqual([
    "c".repeat(10),
    "d",
    "e",
  ]);
  expect(await sent([...long, says("user", "f".repeat(99))])).toEqual(["f".repeat(99)]);
  const parts = [{ type: "text", text: "g".repeat(40) }];
  expect(await sent([says("user", parts), says("assistant", "h"), says("user", "i")])).toEqual(["i"]);
});

it("lets each user keep fewer turns", async () => {
  await stage.post("/api/v1/functions/id/trim_history/valves/update", { turns: 2, characters: 0, note: "" });
  const frugal = await stage.app.user();
  await stage.post("/api/v1/functions/id/trim_history/valves/user/update", { turns: 1 }, frugal);
  expect(await sent(withTools, frugal)).toEqual(["Be brief.", "three"]);
  expect(await sent(withTools)).toEqual(["Be brief.", "two", null, "noon", "2", "three"]);
});
