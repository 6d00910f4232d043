import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { holdClock, fastForward } from "#test/support/clock/held-clock.ts";
import { connectPlain } from "#test/support/sockets.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { startProtectedServer } from "./oauth/protected-server.fixture.ts";
import {
  type OddServer,
  startEverything,
  startOddServer,
  startStalled,
  type TestServer,
} from "./servers.fixture.ts";

holdClock();
let stage: RunStage;
let everything: TestServer;
let odd: OddServer;
let stalled: TestServer;

const server = (id: string, url: string, more: object = {}) => ({
  type: "mcp",
  url,
  auth_type: "none",
  info: { id, name: id.toUpperCase() },
  config: { enable: true, access_grants: [] },
  ...more,
});

beforeAll(async () => {
  [everything, odd, stalled] = await Promise.all([startEverything(), startOddServer(), startStalled()]);
  stage = await startRunStage({
    env: {
      MCP_INITIALIZE_TIMEOUT: "3",
      AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER: "6",
      TOOL_SERVER_CONNECTIONS: JSON.stringify([
        server("all", everything.url),
        server("odd", odd.url, { auth_type: "session", headers: { "x-who": "{{USER_EMAIL}}" } }),
        server("dead", stalled.url),
      ]),
    },
  });
});
afterAll(async () => {
  await stage?.close();
  await Promise.all([everything?.close(), odd?.close(), stalled?.close()]);
});

const completions = ({ path }: UpstreamRequest) => path.endsWith("/chat/completions");

/** One run in which the model calls one tool; what came of it. */
async function call(name: string, args: object = {}, body: object = {}) {
  const { chatId, replyId } = await stage.makeChat();
  const before = stage.upstream.requests.length;
  stage.upstream.reply(
    completions,
    sse(toolCallChunks([{ id: "c1", name, arguments: JSON.stringify(args) }])),
  );
  stage.upstream.reply(completions, text("Fine."));
  const tool_ids = [`server:mcp:${name.split("_")[0]}`];
  const answer = await stage.complete({ chat_id: chatId, id: replyId, tool_ids, ...body });
  expect(answer.status, answer.text).toBe(200);
  await stage.ended(chatId);
  const reply = await stage.message(chatId, replyId);
  const asked = stage.upstream.requests.slice(before).filter(completions);
  const told = asked.at(-1)?.body.messages.filter((message: { role: string }) => message.role === "tool");
  return { reply, asked, told: told?.[0]?.content as string, replyId, chatId };
}

describe("the reference server", () => {
  it("offers its tools under its own name, and answers calls with text, pictures, links and structured values", async () => {
    const { asked, told, reply } = await call("all_echo", { message: "hi" });
    const names = asked[0]?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
    expect(names).toEqual(expect.arrayContaining(["all_echo", "all_get-sum", "all_get-tiny-image"]));
    expect(told).toBe("Echo: hi");
    expect(reply.output[0]).toMatchObject({ tool: { id: "server:mcp:all", server: "ALL" } });
    const picture = await call("all_get-tiny-image");
    expect(picture.reply.output[1].files).toMatchObject([{ type: "image" }]);
    expect((await call("all_get-resource-links", { count: 2 })).told).toMatch(/\]\(demo:\/\//);
    expect((await call("all_get-structured-content", { location: "Chicago" })).told).toContain("temperature");
  });

  it("shows how far a call has come", async () => {
    const { reply, told } = await call("all_trigger-long-running-operation", { duration: 0.4, steps: 2 });
    expect(told).toContain("completed");
    expect(reply.output[0].progress).toMatchObject({ total: 2 });
  });

  it("lists its resources and prompts, and gives them to messages", async () => {
    const token = stage.user.token;
    const { body } = await stage.app.call("GET /api/v1/mcp/all/offer", { token });
    expect(body.resources.length).toBeGreaterThan(0);
    const withArguments = body.prompts.find(
      (prompt: { arguments: unknown[] }) => prompt.arguments.length > 1,
    );
    const filled = await stage.app.call("POST /api/v1/mcp/all/prompts/fill", {
      token,
      body: { name: withArguments.name, arguments: { city: "Berlin", state: "BE" } },
    });
    expect(filled.body.text).toContain("Berlin");
    const [resource] = body.resources.filter(({ type }: { type: string }) => type.startsWith("text/"));
    const attached = await stage.app.call("POST /api/v1/mcp/all/resources/attach", {
      token,
      body: { uri: resource.uri, name: resource.name },
    });
    expect(attached.status, attached.text).toBe(200);
    // The answer does not wait for a slow index.
    await expect
      .poll(async () => (await stage.app.call(`GET /api/v1/files/${attached.body.id}`, { token })).body.data)
      .toMatchObject({ status: "completed", content: expect.stringMatching(/\S/) });
  });
});

describe("a server that misbehaves", () => {
  it("gets the caller's own token and who asks, when it is told so", async () => {
    expect((await call("odd_note")).told).toBe("noted");
    const { authorization, headers } = odd.asked.at(-1)!;
    expect(authorization).toBe(`Bearer ${stage.user.token}`);
    expect(headers["x-who"]).toBe(stage.user.email);
  });

  it("fails with what the tool says, breaks off, and hangs: each is the result of its call", async () => {
    expect((await call("odd_fails")).told).toBe("Error: The disk is full.");
    expect((await call("odd_closes")).told).toMatch(/^Error: .*closed the connection/);
    const hung = await fastForward(call("odd_hang"));
    expect(hung.told).toMatch(/^Error: .*did not answer in time/);
    expect(hung.reply).toMatchObject({ done: true, content: "Fine." });
  });

  it("answers 8 MB on one line: the text is cut and says so", async () => {
    const { told } = await call("odd_big", { megabytes: 8 });
    expect(told.length).toBeLessThan(110_000);
    expect(told).toMatch(/\[truncated: the first 100,000 of 8,388,608 characters\]$/);
  });

  it("sends sounds and bytes: they become files of the reply", async () => {
    const { reply } = await call("odd_sound");
    expect(reply.output[1].files.map(({ name }: { name: string }) => name)).toEqual(["sound-1.wav", "a.bin"]);
  });

  it("is told when a run stops", async () => {
    const { chatId, replyId } = await stage.makeChat();
    stage.upstream.reply(completions, sse(toolCallChunks([{ id: "c1", name: "odd_hang", arguments: "{}" }])));
    const calls = () => odd.asked.filter(({ method }) => method === "tools/call").length;
    const before = calls();
    const body = { chat_id: chatId, id: replyId, tool_ids: ["server:mcp:odd"] };
    await stage.complete(body);
    await expect.poll(calls).toBe(before + 1);
    odd.cancelled.length = 0;
    await stage.user.call(`POST /api/tasks/chat/${chatId}/stop`);
    await stage.ended(chatId);
    await expect.poll(() => odd.cancelled.length).toBe(1);
  });

  it("loses its sessions: the call opens another one", async () => {
    odd.forget();
    expect((await call("odd_note")).told).toBe("noted");
  });

  it("changes a description: the next run sees it, and the revision with it", async () => {
    odd.describe("Takes a note and mails it");
    await expect
      .poll(async () => {
        const { asked } = await call("odd_note");
        const tools = asked[0]?.body.tools as { function: { name: string; description: string } }[];
        return tools.find((tool) => tool.function.name === "odd_note")?.function.description;
      })
      .toBe("Takes a note and mails it");
  });

  it("asks back in the chat: a form that is answered, declined where nobody is", async () => {
    const client = await connectPlain(stage.app.url, {
      token: stage.user.token,
      answer: ({ data }) => (data.type === "input" ? { room: "Blue" } : undefined),
    });
    const session_id = await client.sessionId();
    const { told } = await call("odd_ask", {}, { session_id });
    expect(JSON.parse(told)).toEqual({ action: "accept", content: { room: "Blue", days: 2 } });
    const asked = client.events.map(({ data }) => data?.data).find((data) => data?.type === "input");
    expect(asked.data).toMatchObject({
      title: "ODD",
      message: "Which room?",
      schema: { required: ["room"] },
    });
    client.close();
    expect(JSON.parse((await call("odd_ask")).told).action).toMatch(/cancel|decline/);
  });

  it("does not answer at all: the run goes on and says why, the specs call answers 504", async () => {
    const { chatId, replyId } = await stage.makeChat();
    stage.upstream.reply(completions, text("Without it."));
    await stage.complete({ chat_id: chatId, id: replyId, tool_ids: ["server:mcp:dead"] });
    await fastForward(stage.ended(chatId));
    const reply = await stage.message(chatId, replyId);
    expect(reply).toMatchObject({ done: true, content: "Without it." });
    expect(JSON.stringify(reply.statusHistory)).toContain("DEAD");
    const specs = (id: string, token = stage.user.token) =>
      stage.app.call(`GET /api/v1/tools/id/${id}/specs`, { token });
    expect((await fastForward(specs("server:mcp:dead"))).status).toBe(504);
    const all = await specs("server:mcp:all");
    expect(all.body.specs).toEqual(expect.arrayContaining([expect.objectContaining({ name: "echo" })]));
    const stranger = await stage.app.user();
    expect((await specs("server:mcp:all", stranger.token)).status).toBe(404);
    expect((await specs("server:mcp:none")).status).toBe(404);
  });
});

it("uses the functions that a server told last where it does not tell them within two seconds", async () => {
  await call("odd_note");
  odd.hangLists(true);
  odd.describe("Takes a note, and tells nobody");
  // The run after the server told of its change asks for the list.
  await expect
    .poll(async () => {
      const { told, reply } = await fastForward(call("odd_note"));
      expect(told).toBe("noted");
      return JSON.stringify(reply.statusHistory ?? []);
    })
    .toContain("Those that it told last are used");
  odd.hangLists(false);
});

it("answers 502 where a server refuses the key of the connection itself", async () => {
  const vault = await startProtectedServer();
  const token = stage.user.token;
  const path = "POST /api/v1/configs/tool_servers";
  const { body: before } = await stage.app.call(path.replace("POST", "GET"), { token });
  const locked = server("locked", vault.url, { auth_type: "bearer", key: "old-key" });
  const TOOL_SERVER_CONNECTIONS = [...before.TOOL_SERVER_CONNECTIONS, locked];
  await stage.app.call(path, { token, body: { TOOL_SERVER_CONNECTIONS } });
  const specs = await stage.app.call("GET /api/v1/tools/id/server:mcp:locked/specs", { token });
  expect([specs.status, specs.body.detail]).toEqual([502, expect.stringContaining("refused the credential")]);
  await stage.app.call(path, { token, body: before });
  await vault.close();
});

it("gives a server that opens slowly fifteen seconds to tell its functions", async () => {
  const slow = await startOddServer();
  slow.delay(5000);
  const token = stage.user.token;
  const path = "POST /api/v1/configs/tool_servers";
  const { body: before } = await stage.app.call(path.replace("POST", "GET"), { token });
  const TOOL_SERVER_CONNECTIONS = [...before.TOOL_SERVER_CONNECTIONS, server("slow", slow.url)];
  await stage.app.call(path, { token, body: { TOOL_SERVER_CONNECTIONS } });
  const specs = await fastForward(stage.app.call("GET /api/v1/tools/id/server:mcp:slow/specs", { token }));
  expect([specs.status, specs.body.specs?.[0]]).toEqual([
    200,
    expect.objectContaining({ name: "note", description: "Takes a note" }),
  ]);
  await stage.app.call(path, { token, body: before });
  await slow.close();
});

it("verifies a server, and refuses those that would be started as processes", async () => {
  const token = stage.user.token;
  const verify = (body: object) =>
    stage.app.call("POST /api/v1/configs/tool_servers/verify", { token, body });
  const good = await verify(server("new", everything.url));
  expect(good.body).toMatchObject({
    status: true,
    specs: expect.arrayContaining([expect.objectContaining({ name: "echo" })]),
  });
  expect((await verify(server("new", `${everything.url}/nowhere`))).status).toBe(400);
  expect(
    (await verify({ ...server("new", everything.url), command: "touch", args: ["/tmp/x"] })).status,
  ).toBe(400);
});
