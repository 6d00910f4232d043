import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jwtVerify } from "jose";
import { beforeEach, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { setUp } from "#test/support/set-up.ts";
import { startTerminalServer, type TerminalServer } from "#test/support/terminal/server.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import { connect, entryOf, everyone } from "../terminals.fixture.ts";

let stage: RunStage;
let server: TerminalServer;

setUp(async (keep) => {
  server = await keep(startTerminalServer());
  stage = await keep(startRunStage());
});
beforeEach(async () => {
  await connect(stage.app, entryOf(server, { config: everyone }));
  server.seen.length = 0;
});

const completions = (request: UpstreamRequest) => request.path.endsWith("/chat/completions");
const usage = { prompt_tokens: 10, completion_tokens: 4 };
const calling = (name: string, args: object) =>
  sse(toolCallChunks([{ id: `call_${name}`, name, arguments: JSON.stringify(args) }], { usage }));

it("runs commands and reads files for a reply, as the person in the chat, and tells open pages", async () => {
  await writeFile(join(server.home, "note.txt"), "the word is mellon");
  stage.upstream.reply(completions, calling("run_command", { command: "echo out-$((40+2)); cat note.txt" }));
  stage.upstream.reply(completions, calling("read_file", { path: "note.txt" }));
  stage.upstream.reply(completions, sse(textChunks("Done.", { usage })));
  const client = await stage.connect();
  const chat = await stage.makeChat();
  const before = stage.upstream.requests.filter(completions).length;
  const started = await stage.complete({ chat_id: chat.chatId, id: chat.replyId, terminal_id: "box" });
  expect([started.status, started.text]).toEqual([200, expect.any(String)]);
  await stage.ended(chat.chatId);
  const asked = stage.upstream.requests.filter(completions).slice(before);
  const offered = asked[0]!.body.tools.map(({ function: { name } }: { function: { name: string } }) => name);
  expect(offered).toEqual(expect.arrayContaining(["run_command", "read_file", "write_file", "list_files"]));
  const described = asked[0]!.body.tools.find(
    (tool: { function: { name: string } }) => tool.function.name === "run_command",
  );
  expect(described.function.description).toContain(`The working directory is ${server.home}`);
  expect(asked[0]!.body.messages[0].content).toContain("You have a computer of your own.");
  const { output } = await stage.message(chat.chatId, chat.replyId);
  expect(JSON.stringify(output)).toContain("out-42");
  expect(JSON.stringify(output)).toContain("the word is mellon");
  const run = server.seen.find(({ url }) => url === "/execute")!;
  expect(run.headers).toMatchObject({ "x-user-id": stage.user.id, "x-session-id": chat.chatId });
  const secret = new TextEncoder().encode(server.key);
  const { payload } = await jwtVerify(run.headers["x-service-identity"] as string, secret, {
    audience: "box",
  });
  expect(payload).toMatchObject({ sub: stage.user.id, session_id: chat.chatId, run_id: chat.replyId });
  await expect.poll(() => JSON.stringify(client.events)).toContain("terminal:run_command");
});

it("offers no terminal that the request does not name", async () => {
  stage.upstream.reply(completions, sse(textChunks("Done.", { usage })));
  const chat = await stage.makeChat();
  await stage.complete({ chat_id: chat.chatId, id: chat.replyId });
  await stage.ended(chat.chatId);
  expect(server.seen).toEqual([]);
});

it("answers 503 before anything is contacted or written, for every way a terminal may not be used", async () => {
  const refused = async (id: string, more: object = {}) => {
    const chat = await stage.makeChat();
    const answer = await stage.complete({ chat_id: chat.chatId, id: chat.replyId, terminal_id: id, ...more });
    return [answer.status, answer.body.detail];
  };
  const orchestrator = (contexts: object) =>
    entryOf(server, { server_type: "orchestrator", config: { ...everyone, contexts } });
  const unknown = await refused("unknown");
  expect(unknown).toEqual([503, "The terminal is not available."]);
  await connect(stage.app, entryOf(server, { config: everyone, enabled: false }));
  expect(await refused("box")).toEqual(unknown);
  await connect(stage.app, orchestrator({ chat: false }));
  expect(await refused("box")).toEqual([503, "The terminal is not available for chats."]);
  await connect(stage.app, orchestrator({ chat: { context_id: "chat_id" } }));
  const temporary = { chat_id: "temporary:00000000-0000-4000-8000-000000000001" };
  expect(await refused("box", temporary)).toEqual([503, "The terminal needs a saved chat."]);
  expect(server.seen).toEqual([]);
  await connect(stage.app, entryOf({ url: "http://127.0.0.1:1", key: "" }, { config: everyone }));
  expect(await refused("box")).toEqual([503, expect.stringContaining("cannot be reached")]);
});

it("begins a chat in a terminal of its own: the chat counts as a saved one", async () => {
  const config = { ...everyone, contexts: { chat: { context_id: "chat_id" } } };
  await connect(stage.app, entryOf(server, { server_type: "orchestrator", config }));
  stage.upstream.reply(completions, sse(textChunks("Done.", { usage })));
  const [questionId, replyId] = [crypto.randomUUID(), crypto.randomUUID()];
  const started = await stage.complete({
    parent_id: null,
    user_message: { id: questionId, role: "user", content: "Hi", parentId: null },
    message_ids: [{ model_id: "alpha", message_id: replyId }],
    id: replyId,
    terminal_id: "box",
  });
  expect([started.status, started.text]).toEqual([200, expect.any(String)]);
  await stage.ended(started.body.chat_id);
  const places = server.seen.map(({ headers }) => headers["x-session-id"]);
  expect(new Set(places)).toEqual(new Set([started.body.chat_id]));
});

it("refuses a terminal that died since it was used last, before anything is written", async () => {
  const mortal = await startTerminalServer();
  await connect(stage.app, entryOf(mortal, { config: everyone }));
  stage.upstream.reply(completions, sse(textChunks("Done.", { usage })));
  const chat = await stage.makeChat();
  await stage.complete({ chat_id: chat.chatId, id: chat.replyId, terminal_id: "box" });
  await stage.ended(chat.chatId);
  await mortal.close();
  const next = await stage.makeChat();
  const answer = await stage.complete({ chat_id: next.chatId, id: next.replyId, terminal_id: "box" });
  expect([answer.status, answer.body.detail]).toEqual([503, expect.stringContaining("cannot be reached")]);
  expect(await stage.message(next.chatId, next.replyId)).toMatchObject({ content: "", done: false });
});
