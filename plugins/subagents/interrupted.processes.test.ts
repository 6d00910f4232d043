import { afterAll, beforeAll, expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { calls, endsWith, isOfTask } from "./subagents.fixture.ts";

let all: ChatServers;
beforeAll(async () => {
  const env = { ENABLE_SUBAGENTS: "true", SUBAGENTS_BACKGROUND_ENABLED: "true" };
  all = await startChatServers({ database: "server", env });
}, 120_000);
afterAll(() => all?.close());

const isReport = endsWith("[Message of the system");
const list = async (chatId: string) => {
  const { token } = all.admin();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${all.servers[0]!.url}/api/v1/chats/${chatId}/subagents`, { headers });
  return (await answer.json()) as { id: string; mode: string; state: string }[];
};

it(
  "tells of sub-agents that a killed server left, once, and begins none again",
  { timeout: 120_000 },
  async () => {
    const me = all.admin();
    const chat = await me.makeChat();
    const slow = paced(makePieces(3_000), { every: 20 });
    all.upstream.always(isOfTask("Behind"), slow);
    all.upstream.always(isOfTask("Awaited"), slow);
    all.upstream.always(isReport, text("So be it."));
    all.upstream.reply(
      (request) => !isOfTask("Behind")(request) && !isOfTask("Awaited")(request) && !isReport(request),
      calls("delegate_task", { task: "Behind", background: true }, { task: "Awaited" }),
    );
    const body = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
    expect((await me.complete(body)).status).toBe(200);
    await all.upstream.nextRequest(isOfTask("Behind"));
    await all.upstream.nextRequest(isOfTask("Awaited"));
    // The first checkpoint of what they wrote.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await all.servers[0]!.kill();
    await all.start(0);

    await expect
      .poll(async () => (await list(chat.chatId)).map(({ state }) => state), {
        timeout: 60_000,
        interval: 300,
      })
      .toEqual(["interrupted", "interrupted"]);
    const behind = (await list(chat.chatId)).find(({ mode }) => mode === "background")!;
    await expect
      .poll(async () => (await me.message(chat.chatId, `told-${behind.id}-reply`))?.content, {
        timeout: 60_000,
        interval: 300,
      })
      .toBe("So be it.");
    // A second look finds nothing to tell.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(all.upstream.requests.filter(isReport)).toHaveLength(1);
    expect(all.upstream.requests.filter(isOfTask("Behind"))).toHaveLength(1);
    expect(all.upstream.requests.filter(isOfTask("Awaited"))).toHaveLength(1);
    const told = await me.message(chat.chatId, `told-${behind.id}`);
    expect(told.meta).toMatchObject({ internal: true, state: "interrupted" });
    expect(told.content).toContain(makePieces(3_000)[0]!.trim());
    expect((await me.message(chat.chatId, chat.replyId)).error).toEqual({ content: "interrupted" });
  },
);
