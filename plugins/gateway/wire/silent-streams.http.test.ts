import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { calling, completions, type GatewayApp, saying, startGateway } from "../gateway.fixture.ts";
import { createGatewayPlugin } from "../plugin.ts";
import { streamTimes } from "./reply-stream.ts";

let gateway: GatewayApp;
let key: string;

beforeAll(async () => {
  const times = { idleMs: 2_000, commentMs: 300 };
  gateway = await startGateway({ plugins: [createGatewayPlugin({ times })] });
  key = await gateway.key();
});
afterAll(() => gateway?.close());

it("waits 300 seconds in the product", () => {
  expect(streamTimes.idleMs).toBe(300_000);
});

it("closes a stream after its time without output, comments aside, while the run goes on and is continued", async () => {
  const { id } = await gateway.workspace("slow");
  const root = join(gateway.root, "slow");
  // The agent is silent until the test lets it go on.
  const command = "while [ ! -e go ]; do sleep 0.1; done; echo went on > result.txt";
  gateway.upstream.reply(completions, calling("run_command", { command }));
  gateway.upstream.reply(completions, saying("Done at last."));
  const body = { model: "gw/slow", messages: [{ role: "user", content: "Take your time" }] };
  const answer = await gateway.gateway("POST /v1/chat/completions", key, { body });
  const chatId = answer.headers.get("x-chat-id") as string;
  expect(answer.status).toBe(200);
  expect(answer.text.match(/^: the agent is at work$/gm)?.length).toBeGreaterThan(1);
  expect(answer.text).toMatch(
    new RegExp(`: closed after 2 seconds without output; the run goes on in the chat ${chatId}\n\n$`),
  );
  expect(answer.text).not.toContain("[DONE]");
  expect(answer.text).not.toContain('"finish_reason":"stop"');

  const runs = async () => (await gateway.admin(`GET /api/v1/gateway/workspaces/${id}/runs`)).body;
  expect(await runs()).toMatchObject([{ status: "running", chat_id: chatId }]);
  await writeFile(join(root, "go"), "");
  await expect.poll(async () => (await runs())[0].status).toBe("done");
  expect(existsSync(join(root, "result.txt"))).toBe(true);
  const { history } = (await gateway.admin(`GET /api/v1/chats/${chatId}`)).body.chat;
  expect(history.messages[history.currentId]).toMatchObject({ content: "Done at last.", done: true });

  gateway.upstream.reply(completions, saying("Nothing is left to do."));
  const from = gateway.upstream.requests.length;
  const again = { model: "gw/slow", stream: false, messages: [{ role: "user", content: "And now?" }] };
  const headers = { "x-chat-id": chatId };
  const next = await gateway.gateway("POST /v1/chat/completions", key, { body: again, headers });
  expect(next.body.choices[0].message.content).toBe("Nothing is left to do.");
  expect(JSON.stringify(gateway.upstream.requests[from]!.body.messages)).toContain("Done at last.");
});

it("waits with a whole answer for the end of the run", async () => {
  await gateway.workspace("whole");
  gateway.upstream.reply(completions, calling("run_command", { command: "sleep 3" }));
  gateway.upstream.reply(completions, saying("After a while."));
  const body = { model: "gw/whole", stream: false, messages: [{ role: "user", content: "Go" }] };
  const answer = await gateway.gateway("POST /v1/chat/completions", key, { body });
  expect(answer.body.choices[0].message.content).toBe("After a while.");
});
