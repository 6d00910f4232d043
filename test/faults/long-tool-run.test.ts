import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { report } from "#test/support/faults.ts";
import {
  type Any,
  callsOf,
  type Kind,
  type LongRuns,
  startLongRuns,
  tenRounds,
  textOf,
  toolIds,
} from "./long-tool-run.fixture.ts";

const slow = 300_000;
let runs: LongRuns;

beforeAll(async () => {
  runs = await startLongRuns({ AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER: "1" });
}, slow);
afterAll(() => runs?.close());

/** Built-in tools of three plugins, a plugin's own, a workspace tool, and functions of an OpenAPI and an MCP server. */
const kinds: readonly Kind[] = [
  "scale",
  { name: "get_current_timestamp", given: () => ({}) },
  { name: "answer", given: () => ({ kind: "json" }) },
  "camera",
  { name: "search_chats", given: (step) => ({ query: `sluice ${step}` }) },
  "easel",
  { name: "create_tasks", given: (step) => ({ tasks: [{ content: `Task ${step}` }] }) },
  { name: "answer", given: () => ({ kind: "picture" }) },
  "lathe",
  { name: "get_item", given: (step) => ({ id: String(step) }) },
  "lens",
  "saw",
  "vice",
  { name: "weather", given: () => ({ city: "Bonn" }) },
  { name: "everything_echo", given: (step) => ({ message: `Step ${step}` }) },
];
const ofWorkbench = new Set(kinds.filter((kind) => typeof kind === "string"));

async function start(seed: number) {
  const me = runs.servers.admin();
  const chat = await me.makeChat("Work through it");
  const place = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
  const answer = await me.complete({ ...place, seed, tool_ids: toolIds });
  expect(answer.status, answer.text).toBe(200);
  return chat;
}

const workshop = { id: "server:workshop", server: "Workshop" };
const served: Readonly<Record<string, object>> = {
  answer: workshop,
  get_item: workshop,
  weather: { id: "weather", server: "Weather" },
  everything_echo: { id: "server:mcp:everything", server: "Everything" },
};

/** What a call tells of its tool. */
const toolOf = (name: string): object =>
  ofWorkbench.has(name)
    ? { id: `workbench.${name}`, title: `Use the ${name}` }
    : (served[name] ?? { id: expect.any(String) });

/** What the model was told, by call. */
const toldOf = (request: Any): Map<string, string> =>
  new Map(
    request.body.messages
      .filter(({ role }: Any) => role === "tool")
      .map(({ tool_call_id: id, content }: Any) => [id, content]),
  );

it(
  "ten rounds with twenty calls read back from the chat exactly as they happened",
  { timeout: slow },
  async () => {
    const rounds = tenRounds(kinds);
    const planned = rounds.flat();
    runs.plan(rounds, 1);
    const { chatId, replyId } = await start(1);
    const me = runs.servers.admin();
    await me.ended(chatId);
    const reply = await me.message(chatId, replyId);
    const calls = callsOf(reply.output);
    expect([reply.done, reply.content, reply.error ?? null]).toEqual([true, "All done.", null]);
    // What the model wrote, in its order.
    expect(calls.map(({ call }) => [call.call_id, call.name, call.arguments, call.status])).toEqual(
      planned.map(({ id, name, arguments: args }) => [id, name, args, "completed"]),
    );
    // What ran, once each.
    const noted = runs.noted();
    expect(noted.filter(({ event }) => event === "begin").map(({ name, step }) => [name, step])).toEqual(
      planned
        .filter(({ name }) => ofWorkbench.has(name))
        .map(({ name, arguments: args }) => [name, JSON.parse(args).step]),
    );
    const reached = runs.service.got
      .filter(({ url }) => /^\/(answers|items)/.test(url))
      .map(({ url }) => url);
    expect(reached).toEqual(["/answers/json", "/answers/picture", "/items/9", "/answers/json"]);
    // What the model was told.
    const told = toldOf(runs.asked(1).at(-1));
    expect(calls.map(({ result }) => textOf(result))).toEqual(planned.map(({ id }) => told.get(id)));
    expect(textOf(calls[0]?.result)).toBe('{"step":0,"grams":0,"ümläut":null}');
    for (const { call, result } of calls) {
      expect([call.name, result.is_error === true]).toEqual([call.name, call.name === "saw"]);
      expect(call.tool).toMatchObject(toolOf(call.name));
      expect(call.started_at).toBeGreaterThan(0);
      expect(result.duration_ms).toBeGreaterThanOrEqual(0);
    }
    expect(textOf(calls[14]?.result)).toBe("Echo: Step 14");
    expect(JSON.parse(textOf(calls[13]?.result))).toMatchObject({ city: "Bonn" });
    const camera = calls.find(({ call }) => call.name === "camera")?.result;
    const file = await me.call(`GET ${camera.files[0].url}`);
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(calls.find(({ call }) => call.name === "easel")?.result.embeds).toEqual(["<p>Sheet 5</p>"]);
    expect(calls.find(({ call }) => call.name === "lathe")?.call.progress).toEqual({
      progress: 2,
      total: 2,
      message: "Turned",
    });
    // What a process that knows nothing of it reads.
    await runs.servers.servers[0]!.kill();
    await runs.servers.start(0);
    expect(await me.message(chatId, replyId)).toEqual(reply);
    report("tools", "a run of ten rounds", { calls: calls.length, tools: kinds.length });
  },
);

it(
  "a process killed in round six keeps finished calls; going on repeats none",
  { timeout: slow },
  async () => {
    const rounds = tenRounds(["scale", "lens", "lathe", "camera", "easel"]);
    const [, second] = rounds[5] as [unknown, { id: string; name: string; arguments: string }];
    rounds[5] = [rounds[5]![0]!, { ...second, name: "vice" }];
    const before = runs.noted().length;
    runs.setHold(true);
    runs.plan(rounds, 2);
    const { chatId, userId, replyId } = await start(2);
    const me = runs.servers.admin();
    const isHeld = () =>
      runs
        .noted()
        .slice(before)
        .some(({ name, event }) => name === "vice" && event === "begin");
    while (!isHeld()) {
      await pause(20);
    }
    const seen = callsOf((await me.message(chatId, replyId)).output);
    await runs.servers.servers[0]!.kill();
    runs.setHold(false);
    await runs.servers.start(0);
    const up = performance.now();
    let reply = await me.message(chatId, replyId);
    while (!reply.done) {
      await pause(50);
      reply = await me.message(chatId, replyId);
    }
    report("R2", "kill -9 in the sixth round of tools", {
      "terminal after restart ms": performance.now() - up,
    });
    expect(reply.error).toEqual({ content: "interrupted" });
    const calls = callsOf(reply.output);
    expect(calls).toHaveLength(12);
    expect(calls.slice(0, 11).every(({ result }) => result !== undefined)).toBe(true);
    expect(calls.filter(({ result }) => result)).toEqual(seen.filter(({ result }) => result));
    expect(calls[11]).toMatchObject({ call: { name: "vice" }, result: undefined });
    await me.ended(chatId);

    const body = { chat_id: chatId, assistant_message_id: replyId, user_message: { id: userId }, seed: 2 };
    expect((await me.complete(body)).status).toBe(200);
    await me.ended(chatId);
    const whole = await me.message(chatId, replyId);
    expect([whole.done, whole.content, whole.error ?? null]).toEqual([true, "All done.", null]);
    const finished = callsOf(whole.output);
    expect(finished.filter(({ result }) => result).map(({ call }) => call.call_id)).toEqual(
      rounds.flat().map(({ id }) => id),
    );
    expect(finished.slice(0, 11)).toEqual(calls.slice(0, 11));
    const ended = runs
      .noted()
      .slice(before)
      .filter(({ event }) => event === "end");
    expect(ended.map(({ step }) => step)).toEqual(
      rounds.flat().map(({ arguments: args }) => JSON.parse(args).step),
    );
  },
);

it(
  "a tool that answers 50 MB is cut and marked, and a run is stopped inside a tool that hangs",
  { timeout: slow },
  async () => {
    const call = (name: string, step: number) => ({
      id: `call_${name}`,
      name,
      arguments: JSON.stringify({ step }),
    });
    runs.plan([[call("silo", 1)], [call("saw", 2)], [call("vice", 3)]], 3);
    runs.setHold(true);
    const before = runs.noted().length;
    const { chatId, replyId } = await start(3);
    const me = runs.servers.admin();
    while (
      !runs
        .noted()
        .slice(before)
        .some(({ name }) => name === "vice")
    ) {
      await pause(20);
    }
    const stopped = performance.now();
    expect((await me.call(`POST /api/tasks/chat/${chatId}/stop`)).status).toBe(200);
    await me.ended(chatId);
    report("R28", "stop inside a tool that hangs", { "ended after ms": performance.now() - stopped });
    expect(performance.now() - stopped).toBeLessThan(5_000);
    runs.setHold(false);
    const reply = await me.message(chatId, replyId);
    expect(reply.done).toBe(true);
    const [silo, saw, vice] = callsOf(reply.output);
    const cut = textOf(silo?.result);
    expect(cut.length).toBeLessThan(1_100_000);
    expect(cut.endsWith("\n[output truncated]")).toBe(true);
    expect(textOf(saw?.result)).toBe("Error: The saw is blunt.");
    expect([vice?.call.name, vice?.result]).toEqual(["vice", undefined]);
  },
);

it(
  "a tool server that hangs, floods, breaks off, changes or shadows ends no run",
  { timeout: slow },
  async () => {
    const { service } = runs;
    const before = service.document;
    const shadow = { "/clock": { get: { operationId: "get_current_timestamp", responses: {} } } };
    service.document = { ...before, paths: { ...(before["paths"] as object), ...shadow } };
    const me = runs.servers.admin();
    await me.call("GET /api/v1/configs/tool_servers/states?refresh=true");
    const answer = (kind: string) => ({
      id: `call_${kind}`,
      name: "answer",
      arguments: JSON.stringify({ kind }),
    });
    const call = (name: string) => ({ id: `call_${name}`, name, arguments: "{}" });
    const second = "server_workshop_get_current_timestamp";
    const rounds = [
      [answer("hang"), answer("midway")],
      [answer("huge")],
      [call("get_current_timestamp"), call(second)],
      [call("gone")],
    ];
    runs.plan(rounds, 4);
    const { chatId, replyId } = await start(4);
    await me.ended(chatId);
    service.document = before;
    const reply = await me.message(chatId, replyId);
    expect([reply.done, reply.content, reply.error ?? null]).toEqual([true, "All done.", null]);
    const told = new Map(
      callsOf(reply.output).map(({ call: { call_id: id }, result }) => [id, textOf(result)]),
    );
    expect(told.get("call_hang")).toBe('Error: The tool server "Workshop" did not finish within 1 seconds.');
    expect(told.get("call_midway")).toBe('Error: The tool server "Workshop" closed the connection.');
    expect(told.get("call_huge")).toMatch(/\[output truncated[^\]]*\]\s*$/);
    expect(told.get("call_huge")?.length).toBeLessThan(1_100_000);
    expect(told.get("call_get_current_timestamp")).toContain("timestamp");
    expect(told.get(`call_${second}`)).toContain('"url":"/clock"');
    expect(told.get("call_gone")).toBe('Error: Tool "gone" not found.');
  },
);
