import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { toolOutput } from "#kernel/tools/output.ts";
import { defineTool } from "#kernel/tools/tool.ts";
import { chatClient } from "#plugins/chats/chats.fixture.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { eventsOf, type RunStage, startRunStage } from "../runs.fixture.ts";

/** A picture of one dot. */
const dot = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const dotUri = `data:image/png;base64,${dot.toString("base64")}`;
const page = "<!doctype html><title>Map</title>";
const cited = { source: { id: "a", name: "Atlas" }, document: ["north"], metadata: [{ source: "a" }] };

const gives: Record<string, () => unknown> = {
  draw: () => dotUri,
  report: () =>
    toolOutput({
      value: { pages: 2 },
      files: [
        { name: "../report.txt", contentType: "text/plain", bytes: Buffer.from("All is well.") },
        { name: "dot.png", contentType: "image/png", bytes: dot },
      ],
      embeds: [page, "https://example.test/map"],
      sources: [cited],
    }),
  map: () => toolOutput({ embeds: [page] }),
  flood: () => toolOutput({ value: "much", embeds: ["x".repeat(1024 * 1024 + 1)] }),
};

const artist = definePlugin({
  id: "artist",
  title: "Artist",
  setup: () => ({
    tools: Object.entries(gives).map(([name, give]) =>
      defineTool({
        id: `artist.${name}`,
        spec: { name, description: name, parameters: { type: "object", properties: {} } },
        run: async () => give(),
      }),
    ),
  }),
});

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage({ plugins: [artist] });
});
afterAll(() => stage?.close());

const isCompletion = (request: UpstreamRequest) => request.path.endsWith("/chat/completions");

/** A run whose model calls tools, then says "Look." */
async function run(names: readonly string[], body: object = {}) {
  const calls = names.map((name) => ({ id: `call_${name}`, name, arguments: "{}" }));
  stage.upstream.reply(isCompletion, sse(toolCallChunks(calls)));
  stage.upstream.reply(isCompletion, text("Look."));
  const before = stage.upstream.requests.filter(isCompletion).length;
  const client = await stage.connect();
  const chat = await stage.makeChat();
  const answer = await stage.complete({ chat_id: chat.chatId, id: chat.replyId, ...body });
  expect(answer.status).toBe(200);
  const chatId = answer.body.chat_id as string;
  await stage.ended(chatId);
  const asked = stage.upstream.requests.filter(isCompletion).slice(before);
  const events = eventsOf(client, chat.replyId).map(({ data }) => data);
  return { ...chat, chatId, asked, events, sent: asked[1]?.body.messages };
}

const fetchFile = (url: string, token: string) =>
  fetch(stage.app.url + url, { headers: { authorization: `Bearer ${token}` } });

describe("a tool's result", () => {
  it("that is a picture becomes a file of the chat, which the model sees as well", async () => {
    const { chatId, replyId, sent, events } = await run(["draw"]);
    const reply = await stage.message(chatId, replyId);
    const [file] = reply.files;
    expect(reply.files).toEqual([
      {
        type: "image",
        id: file.id,
        url: `/api/v1/files/${file.id}/content`,
        name: "picture.png",
        content_type: "image/png",
      },
    ]);
    const bytes = await fetchFile(file.url, stage.user.token);
    expect(Buffer.from(await bytes.arrayBuffer()).equals(dot)).toBe(true);
    expect(sent.slice(-2)).toEqual([
      {
        role: "tool",
        tool_call_id: "call_draw",
        content: '{"status":"success","message":"The files of the result are shown to the user."}',
      },
      { role: "user", content: [{ type: "image_url", image_url: { url: dotUri } }] },
    ]);
    const item = reply.output.find(({ type }: { type: string }) => type === "function_call_output");
    expect(item).toMatchObject({
      files: [{ id: file.id }],
      output: [{ type: "input_text" }, { type: "input_image" }],
    });
    // Clients get the file by its event; pictures for the model stay here.
    expect(events.find(({ type }) => type === "files").data).toEqual({ files: reply.files });
    const shown = events.find(({ data }) => data.output?.[0]?.type === "function_call_output").data.output[0];
    expect(shown.output.map(({ type }: { type: string }) => type)).toEqual(["input_text"]);
    // The next turn reads it out of the chat.
    stage.upstream.reply(isCompletion, text("Still there."));
    const next = stage.upstream.nextRequest(
      (request) => request.body?.messages?.at(-1).content === "And now?",
    );
    const user_message = { id: `${replyId}-next`, content: "And now?", parentId: replyId };
    await stage.complete({ chat_id: chatId, id: `${replyId}-reply`, user_message });
    const { messages } = (await next).body;
    expect(JSON.stringify(messages)).toContain(dotUri);
    await stage.ended(chatId);
  });

  it("shows no picture to a model that takes none", async () => {
    const body = { id: "blind", name: "Blind", base_model_id: "alpha", params: {} };
    const made = await stage.user.call("POST /api/v1/models/create", {
      ...body,
      meta: { capabilities: { vision: false } },
    });
    expect(made.status).toBe(200);
    const { sent, chatId, replyId } = await run(["draw"], { model: "blind" });
    expect(sent.at(-1)).toMatchObject({ role: "tool", tool_call_id: "call_draw" });
    expect((await stage.message(chatId, replyId)).files).toMatchObject([{ type: "image" }]);
  });

  it("with files, embeds and sources shows all of them, newest first", async () => {
    const { chatId, replyId, events } = await run(["map", "report"]);
    const reply = await stage.message(chatId, replyId);
    expect(reply.embeds).toEqual([page, "https://example.test/map", page]);
    expect(reply.files.map(({ type, name }: { type: string; name: string }) => [type, name])).toEqual([
      ["file", "report.txt"],
      ["image", "dot.png"],
    ]);
    expect(reply.sources).toEqual([cited]);
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "embeds").length).toBe(2);
    expect(events.find(({ data }) => data.sources).data.sources).toEqual([cited]);
    const results = reply.output.filter(({ type }: { type: string }) => type === "function_call_output");
    expect(results.map(({ output }: { output: { text: string }[] }) => output[0]?.text)).toEqual([
      '{"status":"success","message":"The embeds of the result are shown to the user."}',
      '{"pages":2}',
    ]);
    expect(results[1].embeds).toEqual([page, "https://example.test/map"]);
    const content = await (await fetchFile(reply.files[0].url, stage.user.token)).text();
    expect(content).toBe("All is well.");
    const stranger = await stage.app.user();
    expect((await fetchFile(reply.files[0].url, stranger.token)).status).toBe(404);
    // Files of a message are files of its chat: a copy has them too, and so has who may read the snapshot.
    const me = chatClient(stage.app, stage.user.token);
    await me.call(`POST /${chatId}/share`);
    const access_grants = [{ principal_type: "user", principal_id: stranger.id, permission: "read" }];
    expect((await me.call(`POST /shared/${chatId}/access/update`, { access_grants })).status).toBe(200);
    expect((await fetchFile(reply.files[0].url, stranger.token)).status).toBe(200);
  });

  it("with an embed beyond a megabyte is told without it", async () => {
    const { chatId, replyId, sent } = await run(["flood"]);
    expect(sent.at(-1).content).toBe("much\n[An embed of more than 1 MB is not shown.]");
    expect((await stage.message(chatId, replyId)).embeds).toBeUndefined();
  });

  it("of a temporary chat is shown, and stored nowhere", async () => {
    const count = async () => (await stage.user.call("GET /api/v1/files/")).body.total as number;
    const before = await count();
    const { events, sent } = await run(["draw"], { chat_id: "temporary:draws" });
    expect(events.find(({ type }) => type === "files").data.files).toEqual([
      { type: "image", url: dotUri, name: "picture.png", content_type: "image/png" },
    ]);
    expect(sent.at(-1).content).toEqual([{ type: "image_url", image_url: { url: dotUri } }]);
    expect(await count()).toBe(before);
  });

  it("that a task model asked for is shown as well", async () => {
    stage.upstream.reply(
      (request) => isCompletion(request) && request.body.stream === false,
      text('{"tool_calls": [{"name": "report", "parameters": {}}]}'),
    );
    stage.upstream.reply((request) => isCompletion(request) && request.body.stream === true, text("Clear"));
    const { chatId, replyId } = await stage.makeChat();
    const legacy = { params: { function_calling: "legacy" }, tool_ids: ["artist.report"] };
    await stage.complete({ chat_id: chatId, id: replyId, ...legacy });
    await stage.ended(chatId);
    const reply = await stage.message(chatId, replyId);
    expect(reply.sources).toMatchObject([{ document: ['{"pages":2}'], tool_result: true }, cited]);
    expect(reply.files.length).toBe(2);
    expect(reply.embeds.length).toBe(2);
  });
});

it("a reply that is written anew has none of it any more", async () => {
  const { chatId, replyId, userId } = await run(["report"]);
  stage.upstream.reply(isCompletion, text("Anew."));
  await stage.complete({ chat_id: chatId, id: replyId, user_message: { id: userId } });
  await stage.ended(chatId);
  const reply = await stage.message(chatId, replyId);
  expect(reply.content).toBe("Anew.");
  expect([reply.files, reply.embeds, reply.sources]).toEqual([undefined, undefined, undefined]);
});
