import type { RunStage } from "#plugins/runs/runs.fixture.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { Script, UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

interface Said {
  readonly role: string;
  readonly content: string;
}

export const saidIn = ({ body }: UpstreamRequest): readonly Said[] => body?.messages ?? [];

/** True for requests of a sub-agent with this task: it alone has it as its first question. */
export const isOfTask = (task: string) => (request: UpstreamRequest) =>
  saidIn(request)
    .find(({ role }) => role === "user")
    ?.content.startsWith(task) === true;

/** True for requests whose newest message begins so. */
export const endsWith = (start: string) => (request: UpstreamRequest) =>
  saidIn(request).at(-1)?.content?.startsWith(start) === true;

/** A reply that calls a tool as often as there are arguments. */
export function calls(name: string, ...args: readonly object[]): Script {
  return sse(
    toolCallChunks(args.map((one, at) => ({ id: `call_${at + 1}`, name, arguments: JSON.stringify(one) }))),
  );
}

/** Has a sub-agent say what its task asks for. */
export function answerTask(upstream: Upstream, task: string, script: Script | string): void {
  upstream.always(isOfTask(task), typeof script === "string" ? text(script) : script);
}

/**
 * Runs a reply whose model calls `delegate_task` with these arguments in its first round and says "Fine." in its
 * second, to its end. Sub-agents are asked with the request's parameters, so its own question tells it from theirs.
 */
export async function runDelegating(
  stage: RunStage,
  tasks: readonly object[],
  { system, ...body }: { system?: string; [key: string]: unknown } = {},
) {
  const question = `Question ${crypto.randomUUID()}`;
  const chat = await stage.makeChat(question);
  const isOurs = isOfTask(question);
  if (tasks.length > 0) {
    stage.upstream.reply(isOurs, calls("delegate_task", ...tasks));
  }
  stage.upstream.reply(isOurs, text("Fine."));
  const { status } = await stage.complete({
    chat_id: chat.chatId,
    id: chat.replyId,
    user_message: { id: chat.userId },
    messages: [...(system ? [{ role: "system", content: system }] : []), { role: "user", content: question }],
    ...body,
  });
  if (status !== 200) {
    throw new Error("the run did not start");
  }
  await stage.ended(chat.chatId);
  const asked = stage.upstream.requests.filter(isOurs);
  const results = saidIn(asked[1] ?? asked[0]!).filter(({ role }) => role === "tool");
  return {
    ...chat,
    reply: await stage.message(chat.chatId, chat.replyId),
    offered: (asked[0]!.body.tools as { function: { name: string } }[]).map(({ function: { name } }) => name),
    // oxlint-disable-next-line typescript/no-explicit-any -- results are of every shape
    values: results.map(({ content }): any => (content.startsWith("{") ? JSON.parse(content) : content)),
  };
}
