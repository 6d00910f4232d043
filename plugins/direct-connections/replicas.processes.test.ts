import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toTexts } from "#plugins/functions/functions.fixture.ts";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { json, sse, tokens } from "#test/support/upstream-scripts.ts";
import { completion, textChunks } from "#test/support/upstream-chunks.ts";
import { type DirectClient, openDirectClient } from "./direct.fixture.ts";

describe("direct connections over two processes", () => {
  let all: ChatServers;
  const clients: DirectClient[] = [];
  beforeAll(async () => {
    all = await startChatServers({
      database: "server",
      replicas: 2,
      env: { ENABLE_DIRECT_CONNECTIONS: "true" },
    });
  }, 120_000);
  afterAll(async () => {
    clients.forEach((client) => client.close());
    await all?.close();
  });

  const open = async () => {
    const { token } = all.admin();
    const client = await openDirectClient(all.servers[1]!, token, { upstream: all.upstream });
    clients.push(client);
    return client;
  };
  /** Asks the process that the client is not connected to. */
  const ask = async ({ sessionId }: DirectClient, stream: boolean) => {
    const answer = await fetch(`${all.servers[0]!.url}/api/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${all.admin().token}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "mine",
        messages: [{ role: "user", content: "Hi" }],
        model_item: { id: "mine", direct: true },
        session_id: sessionId,
        stream,
      }),
    });
    return { status: answer.status, text: await answer.text() };
  };

  it("a whole answer comes from the other process", async () => {
    const client = await open();
    all.upstream.reply("/chat/completions", json(completion("From afar.")));
    const answer = await ask(client, false);
    expect([answer.status, JSON.parse(answer.text).choices?.[0].message.content]).toEqual([
      200,
      "From afar.",
    ]);
  });

  it("a stream comes in order", async () => {
    const client = await open();
    const words = Array.from({ length: 200 }, (_, at) => `${at} `);
    all.upstream.reply("/chat/completions", sse(textChunks(words)));
    const { text } = await ask(client, true);
    expect(toTexts(text).join("")).toBe(words.join(""));
  });

  it("a client that leaves there ends the stream here", async () => {
    const client = await open();
    all.upstream.reply("/chat/completions", tokens(1000, 10));
    const reading = ask(client, true);
    await expect.poll(() => client.acknowledged.length, { timeout: 10_000 }).toBeGreaterThan(3);
    client.close();
    expect((await reading).text).toContain("Client session disconnected.");
  });
});
