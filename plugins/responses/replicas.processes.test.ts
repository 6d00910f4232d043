import { createOpenAI } from "@ai-sdk/openai";
import { stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { callServer } from "#test/support/app.ts";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { fromAssistant, fromUser } from "#test/support/wire-parts.ts";

describe("two replicas on one Postgres", () => {
  let chat: ChatServers;
  beforeAll(async () => {
    chat = await startChatServers({ database: "server", replicas: 2 });
  });
  afterAll(() => chat?.close());

  const ask = (at: number, body: object) =>
    callServer(chat.servers[at]!.url, "POST /compat/responses", {
      token: chat.admin().token,
      body: { model: "alpha", input: "Hi", ...body },
    });
  const refer = (id: string) => ({
    input: [{ type: "item_reference", id }, fromUser("And?")],
  });

  it.each([true, false])("find what the other one answered, streamed: %s", async (stream) => {
    chat.upstream.reply("/chat/completions", text("Six"));
    const { text: answered } = await ask(0, { stream });
    const id = /"id":"(msg_[^"]+)"/.exec(answered)?.[1] as string;
    chat.upstream.reply("/chat/completions", text("Seven"));
    expect((await ask(1, refer(id))).status).toBe(200);
    expect(chat.upstream.requests.at(-1)?.body.messages).toEqual([fromAssistant("Six"), fromUser("And?")]);
  });

  it("keep nothing that is not to be stored", async () => {
    chat.upstream.reply("/chat/completions", text("Six"));
    const { body } = await ask(0, { store: false });
    const { status, text: told } = await ask(0, refer(body.output[0].id));
    expect([status, told]).toEqual([400, expect.stringContaining("input[0].id")]);
  });

  it("take turns in one toolkit's loop of a tool", async () => {
    let turn = 0;
    const provider = createOpenAI({
      baseURL: "http://platform.test/compat",
      apiKey: chat.admin().token,
      fetch: (url, init) =>
        fetch(String(url).replace("http://platform.test", chat.servers[turn++ % 2]!.url), init),
    });
    chat.upstream.reply(
      "/chat/completions",
      sse(toolCallChunks([{ id: "c1", name: "weather", arguments: '{"city":"Łódź"}' }])),
    );
    chat.upstream.reply("/chat/completions", sse(textChunks("Warm")));
    const result = streamText({
      model: provider.responses("alpha"),
      prompt: "How is the weather?",
      tools: {
        weather: tool({
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => `21 °C in ${city}`,
        }),
      },
      stopWhen: stepCountIs(3),
    });
    expect(await result.text).toBe("Warm");
    expect(turn).toBe(2);
    expect(JSON.stringify(chat.upstream.requests.at(-1)?.body.messages)).toContain("21 °C in Łódź");
  });
});
