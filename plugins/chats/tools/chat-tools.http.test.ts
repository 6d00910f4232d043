import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunStage, runScripted, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { isJustNow } from "#test/support/clock/now.ts";
import { chatClient, replied, said } from "../chats.fixture.ts";

let stage: RunStage;
let ids: { mill: string; old: string; archived: string; foreign: string };

beforeAll(async () => {
  stage = await startRunStage();
  const me = chatClient(stage.app, stage.user.token);
  const other = chatClient(stage.app, (await stage.app.user()).token);
  const history = (question: string, answer: string) => ({
    currentId: "a",
    messages: {
      u: said("u", question, { childrenIds: ["a", "b"] }),
      a: replied("a", "u", { content: answer }),
      b: replied("b", "u", { content: "another branch" }),
    },
  });
  const make = async (client: typeof me, title: string, ...talk: [string, string]) =>
    (await client.make({ title, history: history(...talk) })).id as string;
  ids = {
    mill: await make(me, "The mill", "How wide is the sluice?", "x".repeat(9_000)),
    old: await make(me, "Sluices of old", "And before?", "Oak."),
    archived: await make(me, "Archived sluice", "?", "!"),
    foreign: await make(other, "Foreign sluice", "secret", "secret"),
  };
  await me.call(`POST /${ids.archived}/archive`);
});
afterAll(() => stage?.close());

const found = (value: { title: string }[]) => value.map(({ title }) => title).toSorted();

it("models find the person's other chats, and read them in bounded pieces", async () => {
  const chat = await stage.makeChat("Where did we speak of the sluice?");
  const { values } = await runScripted(
    stage,
    [
      { name: "search_chats", args: { query: "sluice" } },
      { name: "search_chats", args: { query: "sluice", count: 1 } },
      { name: "search_chats", args: { query: "sluice", end_timestamp: 1_000 } },
      { name: "view_chat", args: { chat_id: ids.mill } },
      { name: "view_chat", args: { chat_id: ids.old, count: 1, skip: 1 } },
      { name: "view_chat", args: { chat_id: ids.old, count: 1 } },
    ],
    { chat },
  );
  expect(found(values[0])).toEqual(["Sluices of old", "The mill"]);
  expect(values[0].find(({ id }: { id: string }) => id === ids.mill)).toEqual({
    id: ids.mill,
    title: "The mill",
    snippet: "How wide is the sluice?",
    updated_at: expect.any(Number),
  });
  expect([values[1].length, values[2]]).toEqual([1, []]);
  expect(values[3]).toMatchObject({ id: ids.mill, title: "The mill", has_earlier_messages: false });
  expect(values[3].messages).toEqual([
    { role: "user", content: "How wide is the sluice?" },
    { role: "assistant", content: `${"x".repeat(8_000)}… [1000 more characters]` },
  ]);
  expect(values[4]).toMatchObject({ messages: [{ content: "And before?" }], has_earlier_messages: false });
  expect(values[5]).toMatchObject({ messages: [{ content: "Oak." }], has_earlier_messages: true });
});

it("chats of others do not exist for them, administrators included", async () => {
  const { results } = await runScripted(stage, [
    { name: "view_chat", args: { chat_id: ids.foreign } },
    { name: "view_chat", args: { chat_id: "no\u0000ne" } },
    { name: "search_chats", args: { query: "secret" } },
    { name: "search_chats", args: { query: "a\u0000b" } },
    { name: "search_chats", args: { query: "x", start_timestamp: "soon" } },
  ]);
  const absent = "Error: There is no such chat of the user's.";
  expect(results).toEqual([absent, absent, "[]", "[]", expect.stringMatching(/^Error: start_timestamp: /)]);
});

it("models are told the time where the person is", async () => {
  const { user } = stage;
  const body = { timezone: "Asia/Kathmandu" };
  await user.call("POST /api/v1/auths/update/timezone", body);
  const variables = { "{{CURRENT_TIMEZONE}}": "America/St_Johns" };
  const calls = [
    { name: "get_current_timestamp" },
    { name: "calculate_timestamp", args: { days_ago: 1, timezone: "UTC" } },
    { name: "calculate_timestamp", args: { days_ago: 1.5 } },
    { name: "get_current_timestamp", args: { timezone: "Mars" } },
  ];
  const here = await runScripted(stage, calls);
  const [current, yesterday] = here.values;
  expect(current).toMatchObject({
    timezone: "Asia/Kathmandu",
    current_iso: expect.stringMatching(/\+05:45$/),
  });
  expect(isJustNow(current.current_timestamp)).toBe(true);
  expect(Date.parse(current.current_iso) / 1000).toBe(current.current_timestamp);
  expect(yesterday.current_timestamp - yesterday.calculated_timestamp).toBe(86_400);
  expect(here.results.slice(2)).toEqual([
    expect.stringMatching(/^Error: days_ago: /),
    expect.stringMatching(/^Error: timezone: /),
  ]);
  const away = await runScripted(stage, calls.slice(0, 1), { variables });
  expect(away.values[0].timezone).toBe("America/St_Johns");
});
