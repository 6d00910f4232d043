import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type RunStage, runScripted, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { saidIn } from "#plugins/subagents/subagents.fixture.ts";
import { type OpenApiService, startOpenApiService } from "#plugins/tool-servers/openapi/service.fixture.ts";
import { holdClock, passTime } from "#test/support/clock/held-clock.ts";
import { setUp } from "#test/support/set-up.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { isTimer, runSetting } from "./timers.fixture.ts";

let stage: RunStage;
let shed: OpenApiService;
const call = (route: string, { token = stage.user.token, body }: { token?: string; body?: unknown } = {}) =>
  stage.app.call(route, { token, ...(body !== undefined && { body }) });
const listed = async (chatId: string) => (await call(`GET /api/v1/chats/${chatId}/timers`)).body;
const stateOf = async (chatId: string) =>
  (await listed(chatId)).map((one: { state: string; cancelled_by: string | null }) =>
    [one.state, one.cancelled_by].filter(Boolean).join(" "),
  );
/** Lets time pass until it is so. */
const until = (look: () => Promise<void>) =>
  vi.waitFor(async () => passTime(500).then(look), { timeout: 60_000, interval: 20 });

holdClock();

setUp(async (keep) => {
  shed = await keep(startOpenApiService());
  const servers = [{ url: shed.url, path: "openapi.json", auth_type: "none", info: { id: "shed" } }];
  stage = await keep(
    startRunStage({
      env: {
        ENABLE_SUBAGENTS: "true",
        CHAT_RESPONSE_STOP_REPEATED_TOOL_CALLS: "false",
        TOOL_SERVER_CONNECTIONS: JSON.stringify(servers),
      },
    }),
  );
});
beforeEach(
  async () => void (await call("POST /api/v1/configs/subagents", { body: { ENABLE_SUBAGENTS: true } })),
);

describe("a timer that fires", () => {
  it("continues the chat with its note, once, and is told to open windows", async () => {
    stage.upstream.always(isTimer("Look at the mill again"), text("The mill turns."));
    const client = await stage.connect();
    const { values, chatId, replyId, offered } = await runSetting(
      stage,
      [{ prompt: "Look at the mill again", at: "2s" }],
      { top_p: 0.25, tool_ids: ["server:shed"] },
    );
    expect(values).toEqual([
      {
        status: "waiting",
        timer_id: expect.any(String),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/),
        in_seconds: expect.any(Number),
        cancel_on: [],
        prompt: "Look at the mill again",
      },
    ]);
    const [{ timer_id: id }] = values;
    expect(await listed(chatId)).toMatchObject([
      { id, state: "waiting", message_id: replyId, call_id: "call_1" },
    ]);
    await until(async () => expect(await stateOf(chatId)).toEqual(["fired"]));
    const told = await readTold(chatId, "The mill turns.");
    expect(told).toMatchObject({
      role: "user",
      parentId: replyId,
      meta: { internal: true, kind: "timer", timer_id: id, prompt: "Look at the mill again" },
    });
    const [{ due_at: due, ended_at: ended }] = await listed(chatId);
    expect(ended).toBeGreaterThanOrEqual(due);
    const asked = stage.upstream.requests.filter(isTimer("Look at the mill again"));
    expect(asked).toHaveLength(1);
    expect(asked[0]!.body).toMatchObject({ model: "alpha", top_p: 0.25 });
    // What the reply had of a tool server, the timer has not.
    const namesIn = (body: { tools: { function: { name: string } }[] }) =>
      body.tools.map((tool) => tool.function.name);
    expect(offered).toContain("get_item");
    expect(namesIn(asked[0]!.body)).toContain("timer");
    expect(namesIn(asked[0]!.body)).not.toContain("get_item");
    const shown = client.events.map(({ data }) => data).filter((data) => data?.data?.type === "chat:timer");
    expect(shown.map(({ chat_id, data }) => [chat_id, data.data.state])).toEqual([
      [chatId, "waiting"],
      [chatId, "fired"],
    ]);
    expect(client.events.some(({ data }) => data?.data?.type === "chat:reload")).toBe(true);
    await passTime(2_500);
    expect(Object.keys((await stage.read(chatId)).chat.history.messages)).toHaveLength(4);
  });

  it("goes one after another with others of its chat, each below the last", async () => {
    const notes = Array.from({ length: 5 }, (_, at) => `Note ${at} of ${randomUUID()}`);
    notes.forEach((note) => stage.upstream.always(isTimer(note), text(`Read: ${note}`)));
    const { chatId } = await runSetting(
      stage,
      notes.map((prompt) => ({ prompt, at: "1s" })),
    );
    await until(async () => expect(await stateOf(chatId)).toEqual(notes.map(() => "fired")));
    await stage.ended(chatId);
    const { messages } = (await stage.read(chatId)).chat.history;
    const all = Object.values(messages) as { childrenIds: string[] }[];
    expect(all).toHaveLength(2 + 2 * notes.length);
    // One branch.
    expect(all.every(({ childrenIds }) => childrenIds.length <= 1)).toBe(true);
  });

  it("may set the next one, and shows its note where the model is gone", async () => {
    const chat = await runSetting(stage, [{ prompt: "Nobody there", at: "2s" }], { model: "beta" });
    stage.upstream.models = ["alpha"];
    await call("GET /api/models?refresh=true");
    try {
      await until(async () => expect(await stateOf(chat.chatId)).toEqual(["fired"]));
      const { history } = (await stage.read(chat.chatId)).chat;
      const shown = Object.values(history.messages) as { content: string; meta?: { kind?: string } }[];
      expect(shown.find(({ meta }) => meta?.kind === "timer")?.content).toContain("Nobody there");
    } finally {
      stage.upstream.models = ["alpha", "beta"];
      await call("GET /api/models?refresh=true");
    }
  });

  /** The question in front of the last reply, once that says so. */
  const readTold = async (chatId: string, content: string) =>
    await vi.waitFor(
      async () => {
        const { history } = (await stage.read(chatId)).chat;
        const last = history.messages[history.currentId];
        expect(last).toMatchObject({ role: "assistant", content, done: true });
        return history.messages[last.parentId];
      },
      { timeout: 20_000, interval: 20 },
    );
});

describe("a timer is cancelled", () => {
  it("by its person, once and for good", async () => {
    const { chatId, values } = await runSetting(stage, [{ prompt: "Never", at: "2s" }]);
    const path = `POST /api/v1/timers/${values[0].timer_id}/cancel`;
    const answer = await call(path);
    expect(answer).toMatchObject({ status: 200, body: { state: "cancelled", cancelled_by: "person" } });
    expect((await call(path)).body).toEqual(answer.body);
    await passTime(3_500);
    expect(await stateOf(chatId)).toEqual(["cancelled person"]);
    expect(stage.upstream.requests.filter(isTimer("Never"))).toEqual([]);
  });

  it("when the chat is read, or its folder is, where it asks for that", async () => {
    const timers = [
      { prompt: "Unread", at: "1h", cancel_on: ["chat.read"] },
      { prompt: "Whatever", at: "1h", cancel_on: "chat.user_message" },
      { prompt: "Always", at: "1h" },
    ];
    const { chatId } = await runSetting(stage, timers);
    const other = await runSetting(stage, timers.slice(0, 1));
    await call(`POST /api/v1/chats/${chatId}/read`);
    await until(async () =>
      expect(await stateOf(chatId)).toEqual(
        expect.arrayContaining(["cancelled chat.read", "waiting", "waiting"]),
      ),
    );
    expect(await stateOf(other.chatId)).toEqual(["waiting"]);
    const folder = (await call("POST /api/v1/folders/", { body: { name: "Mills" } })).body;
    await call(`POST /api/v1/chats/${other.chatId}/folder`, { body: { folder_id: folder.id } });
    await call(`POST /api/v1/chats/${other.chatId}/unread`);
    await call(`POST /api/v1/folders/${folder.id}/read`);
    await until(async () => expect(await stateOf(other.chatId)).toEqual(["cancelled chat.read"]));
  });

  it("when the person writes, not when a reply is made once more or another timer fires", async () => {
    const { chatId, replyId, reply } = await runSetting(stage, [
      { prompt: "Unanswered", at: "1h", cancel_on: ["chat.user_message"] },
      { prompt: "A first look", at: "1s" },
    ]);
    await until(async () => expect((await stateOf(chatId)).toSorted()).toEqual(["fired", "waiting"]));
    await stage.ended(chatId);
    const again = randomUUID();
    await runScripted(stage, [], { chat: { chatId, replyId: again }, user_message: { id: reply.parentId } });
    expect((await stateOf(chatId)).toSorted()).toEqual(["fired", "waiting"]);
    const said = { id: randomUUID(), role: "user", content: "Here I am", parentId: replyId };
    await runScripted(stage, [], { chat: { chatId, replyId: randomUUID() }, user_message: said });
    await until(async () =>
      expect((await stateOf(chatId)).toSorted()).toEqual(["cancelled chat.user_message", "fired"]),
    );
  });

  it("by the model, which is offered that where timers wait", async () => {
    const { chatId, replyId, values, offered } = await runSetting(stage, [{ prompt: "Later", at: "1h" }]);
    expect(offered).toContain("timer");
    expect(offered).not.toContain("cancel_timer");
    const said = { id: randomUUID(), role: "user", content: "Forget it", parentId: replyId };
    const next = await runScripted(
      stage,
      [
        { name: "list_timers" },
        { name: "cancel_timer", args: { timer_id: values[0].timer_id } },
        { name: "cancel_timer", args: { timer_id: randomUUID() } },
      ],
      { chat: { chatId, replyId: randomUUID() }, user_message: said },
    );
    const own = next.values.slice(-3);
    expect(own[0]).toMatchObject([{ timer_id: values[0].timer_id, prompt: "Later" }]);
    expect(own[1]).toMatchObject({ status: "cancelled" });
    expect(own[2]).toMatch(/^Error: timer_id/);
    expect(await stateOf(chatId)).toEqual(["cancelled model"]);
  });

  it("with the message that set it, and goes with its chat", async () => {
    const { chatId, replyId } = await runSetting(stage, [{ prompt: "Gone", at: "2s" }]);
    await call(`DELETE /api/v1/chats/${chatId}/messages/${replyId}`);
    await until(async () => expect(await stateOf(chatId)).toEqual(["cancelled person"]));
    const whole = await runSetting(stage, [{ prompt: "Gone", at: "2s" }]);
    const waiting = async () => (await call("GET /api/v1/timers/")).body as { chat_id: string }[];
    expect((await waiting()).some((one) => one.chat_id === whole.chatId)).toBe(true);
    await call(`DELETE /api/v1/chats/${whole.chatId}`);
    expect((await waiting()).some((one) => one.chat_id === whole.chatId)).toBe(false);
    await passTime(3_500);
    expect(stage.upstream.requests.filter(isTimer("Gone"))).toEqual([]);
  });
});

describe("bad input", () => {
  it("is refused with its reason, and sets nothing", async () => {
    const { chatId, values } = await runSetting(stage, [
      { prompt: " ", at: "1m" },
      { prompt: "x".repeat(10_001), at: "1m" },
      { prompt: "x", at: "soon" },
      { prompt: "x", at: "2031-05-06T07:00:00" },
      { prompt: "x", at: "2020-05-06T07:00:00Z" },
      { prompt: "x", at: "1m", cancel_on: ["chat.closed"] },
      { prompt: "x" },
    ]);
    expect(values).toEqual([
      "Error: prompt: must be a text that is not empty.",
      "Error: prompt: must have at most 10000 characters.",
      expect.stringMatching(/^Error: at: "soon" is not an offset such as 90s/),
      expect.stringMatching(/^Error: at: .* lacks a time zone/),
      expect.stringMatching(/^Error: at: .* has passed; it is 20/),
      expect.stringMatching(/^Error: .*cancel_on/),
      'Error: "timer" needs "at".',
    ]);
    expect(await listed(chatId)).toEqual([]);
  });

  it("sets no more than may wait in a chat, and no more than may be set within an hour", async () => {
    const timers = (count: number) => Array.from({ length: count }, () => ({ prompt: "Many", at: "1h" }));
    const { chatId, values } = await runSetting(stage, timers(22));
    expect(values.filter((value) => typeof value === "string")).toEqual(
      Array.from({ length: 2 }, () => "Error: 20 timers wait in this chat, and no more may."),
    );
    for (const last of [20, 20]) {
      const waiting = (await listed(chatId)) as { id: string; state: string }[];
      for (const { id } of waiting.filter(({ state }) => state === "waiting")) {
        await call(`POST /api/v1/timers/${id}/cancel`);
      }
      const more = await runSetting(stage, timers(last), { chat: { chatId, replyId: randomUUID() } });
      expect(more.values.every((value) => value.status === "waiting")).toBe(true);
    }
    const waits = ((await listed(chatId)) as { id: string; state: string }[]).find(
      ({ state }) => state === "waiting",
    );
    await call(`POST /api/v1/timers/${waits!.id}/cancel`);
    const last = await runSetting(stage, timers(1), { chat: { chatId, replyId: randomUUID() } });
    expect(last.values).toEqual(["Error: 60 timers were set in this chat within an hour, and no more may."]);
    await call(`DELETE /api/v1/chats/${chatId}`);
  });

  it("shows timers to their person alone", async () => {
    const { chatId, values } = await runSetting(stage, [{ prompt: "Mine", at: "1h" }]);
    const { token } = await stage.app.user();
    expect((await call(`GET /api/v1/chats/${chatId}/timers`, { token })).status).toBe(404);
    expect((await call(`POST /api/v1/timers/${values[0].timer_id}/cancel`, { token })).status).toBe(404);
    expect((await call("GET /api/v1/timers/", { token })).body).toEqual([]);
    expect((await call(`POST /api/v1/timers/${randomUUID()}/cancel`)).status).toBe(404);
    expect(await stateOf(chatId)).toEqual(["waiting"]);
  });
});

it("is offered where sub-agents are on, in chats that are kept and are no sub-agent's", async () => {
  const temporary = { chatId: `temporary:${randomUUID()}`, replyId: randomUUID() };
  expect((await runScripted(stage, [], { chat: temporary })).offered).not.toContain("timer");
  stage.upstream.always(
    (request) => saidIn(request).some(({ content }) => content === "Nap"),
    text("Rested."),
  );
  await runScripted(stage, [{ name: "delegate_task", args: { task: "Nap" } }]);
  const inside = stage.upstream.requests.find((request) => saidIn(request).at(-1)?.content === "Nap");
  const names = inside!.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
  expect(names).not.toContain("timer");
  const { chatId } = await runSetting(stage, [{ prompt: "Switched off", at: "1s" }]);
  await call("POST /api/v1/configs/subagents", { body: { ENABLE_SUBAGENTS: false } });
  expect((await runScripted(stage, [])).offered).not.toContain("timer");
  await passTime(2_500);
  expect(await stateOf(chatId)).toEqual(["waiting"]);
});
