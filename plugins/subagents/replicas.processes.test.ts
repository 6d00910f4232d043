import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { answerTask, calls, endsWith, isOfTask, saidIn } from "./subagents.fixture.ts";

// Takes more than ten seconds of real time: two processes start, and the leases of the one that is killed run out.

let all: ChatServers;
beforeAll(async () => {
  const env = { ENABLE_SUBAGENTS: "true", SUBAGENTS_BACKGROUND_ENABLED: "true" };
  all = await startChatServers({ database: "server", replicas: 2, env });
}, 240_000);
afterAll(() => all?.close());

const isReport = endsWith("[Message of the system");
/** True for the message of the system that tells of this task. */
const isReportOf = (task: string) => (request: Parameters<typeof isReport>[0]) =>
  isReport(request) && saidIn(request).at(-1)!.content.includes(`Task: ${task}\n`);

/** A chat that gives tasks to the background through the replica of this number. */
async function dispatch(tasks: readonly string[], replica: number): Promise<string> {
  const me = all.admin(replica);
  const question = `Give away ${tasks.join(", ")}`;
  all.upstream.reply(
    endsWith(question),
    calls("delegate_task", ...tasks.map((task) => ({ task, background: true }))),
  );
  const chat = await me.makeChat(question);
  const place = { chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
  await me.complete({ ...place, messages: [{ role: "user", content: question }] });
  return chat.chatId;
}

const statesOf = async (chatId: string) =>
  ((await all.admin().call(`GET /api/v1/chats/${chatId}/subagents`)).body as { state: string }[]).map(
    ({ state }) => state,
  );

it("results are told once on two replicas, of which one is killed", { timeout: 240_000 }, async () => {
  all.upstream.always(isReport, text("Noted."));
  const names = (kind: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${kind} ${String(at).padStart(2, "0")}`);
  const [short, long] = [names("Short", 10), names("Long", 4)];
  short.forEach((task) => answerTask(all.upstream, task, paced(["Done."], { every: 1_500 })));
  long.forEach((task) => answerTask(all.upstream, task, paced(makePieces(6_000), { every: 20 })));
  const kept = [await dispatch(short.slice(0, 5), 0), await dispatch(short.slice(5), 0)];
  const killed = [await dispatch(long.slice(0, 2), 1), await dispatch(long.slice(2), 1)];
  for (const task of long) {
    await all.upstream.nextRequest(isOfTask(task));
  }
  // The first checkpoint of what they wrote.
  await pause(2_000);
  await all.servers[1]!.kill();
  const chatIds = [...kept, ...killed];
  const expected = [
    ...kept.map(() => Array.from({ length: 5 }, () => "completed")),
    ...killed.map(() => ["interrupted", "interrupted"]),
  ];
  const wait = { timeout: 90_000, interval: 300 };
  await expect.poll(async () => await Promise.all(chatIds.map(statesOf)), wait).toEqual(expected);
  const tasks = [...short, ...long];
  const told = async () => (await Promise.all(chatIds.map(toldIn))).flat();
  await expect
    .poll(async () => (await told()).filter(({ reply }) => reply?.done === true).length, wait)
    .toBe(tasks.length);
  // A second look finds nothing to tell.
  await pause(3_000);
  const results = await told();
  expect(results.map(({ task }) => task).toSorted()).toEqual(tasks.toSorted());
  for (const { task, reply } of results) {
    // The killed replica may have begun to tell one, and not have come to ask the model.
    const isCutOff = reply?.error?.content === "interrupted";
    const asked = all.upstream.requests.filter(isReportOf(task)).length;
    expect(asked, task).toBeLessThanOrEqual(1);
    expect(asked === 1 || isCutOff, task).toBe(true);
    expect(all.upstream.requests.filter(isOfTask(task)), task).toHaveLength(1);
  }
  for (const chatId of chatIds) {
    const branches = Object.values(await messagesOf(chatId)).map((one) => one.childrenIds.length);
    expect(Math.max(...branches)).toBe(1);
  }
});

interface Stored {
  readonly childrenIds: readonly string[];
  readonly done?: boolean;
  readonly error?: { readonly content: string };
  readonly meta?: { readonly kind?: string; readonly task?: string };
}

const messagesOf = async (chatId: string): Promise<Record<string, Stored>> =>
  (await all.admin().read(chatId)).chat.history.messages;

/** The tasks whose results a chat was told of, with what the model said to each. */
async function toldIn(chatId: string) {
  const messages = await messagesOf(chatId);
  return Object.values(messages)
    .filter(({ meta }) => meta?.kind === "subagent")
    .map(({ meta, childrenIds }) => ({ task: meta?.task ?? "", reply: messages[childrenIds[0] ?? ""] }));
}
