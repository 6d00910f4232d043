import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { reply as toReply, type RequestInfo, stream } from "#kernel/http/route.ts";
import { seconds } from "#storage/clock.ts";
import type { Slot } from "#kernel/service.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { ChatRuns, TaskModel } from "#plugins/completions/service.ts";
import type { Models } from "#plugins/models/service.ts";
import type { RunListeners } from "../agent/listeners.ts";
import type { RunStore } from "../agent/gateway-runs.ts";
import type { GatewayDatabase } from "../tables.ts";
import { chooseModel, type ModelChoice } from "../workspaces/choose-model.ts";
import type { Workspace } from "../workspaces/workspaces.ts";
import { choosePlace, placeTask } from "./continuity.ts";
import { type AnswerHead, toCompletion, toFrames } from "./frames.ts";
import { ReplyStream, type StreamTimes } from "./reply-stream.ts";
import { type CallerIds, type GatewayRequest, readCallerIds, toConversation } from "./request.ts";

export interface AnswerParts {
  readonly db: GatewayDatabase;
  readonly chats: Chats;
  readonly chatRuns: Slot<ChatRuns>;
  readonly models: Models;
  readonly taskModel: TaskModel;
  readonly runs: RunStore;
  readonly listeners: RunListeners;
  readonly choice: ModelChoice;
  readonly times: StreamTimes;
}

interface Asked {
  readonly owner: Principal;
  readonly workspace: Workspace;
  readonly body: GatewayRequest;
  readonly request: RequestInfo;
}

/** Runs the task of a request in its workspace and answers it, streamed unless told otherwise. */
export async function answer(asked: Asked, parts: AnswerParts) {
  const { owner, workspace, body, request } = asked;
  const ids = readCallerIds(request.headers);
  const { id: modelId } = await chooseModel(owner, workspace, parts.choice);
  if (ids.task !== undefined) {
    return await answerPlainly(asked, { ids, modelId }, parts);
  }
  const placing = { owner, workspace, modelId, ids, conversation: toConversation(body.messages) };
  await parts.models.resolve(owner, modelId);
  const place = await choosePlace(placing, parts);
  // Taken before anything is written: of several requests at the same moment the others leave no chat behind.
  const run = await parts.runs.begin({ ...place, workspaceId: workspace.id, modelId });
  const head = toHead(place.messageId, body.model);
  const reply = new ReplyStream();
  const forget = parts.listeners.add(place.messageId, reply);
  const ended = placeTask(place, placing, parts)
    .then((task) => startRun(task, asked, parts))
    .then(() => readFailure(place.chatId, place.messageId, parts.chats))
    .finally(() => {
      forget();
      reply.end();
    });
  const settled = ended.catch((error: unknown) => error as Error);
  // A refusal is answered with its status; once the agent has begun, failures are told within the stream.
  const early = await Promise.race([reply.hasBegun, settled]);
  if (early instanceof Error) {
    await parts.runs.release(run.id, early.message);
    throw early;
  }
  const headers = { "x-chat-id": place.chatId };
  if (body.stream === false) {
    const failure = await settled;
    if (failure !== undefined) {
      throw failure;
    }
    return toReply(toCompletion(head, reply.content), { headers });
  }
  const frames = toFrames(reply, {
    head,
    chatId: place.chatId,
    requestId: request.id,
    times: parts.times,
    includesUsage: body.stream_options?.include_usage === true,
    ended: settled,
  });
  return stream(frames, { headers });
}

async function startRun(
  completion: Parameters<ChatRuns["start"]>[0],
  { owner, request }: Asked,
  { chatRuns }: AnswerParts,
): Promise<void> {
  const [first] = chatRuns.list();
  if (first === undefined) {
    throw new AppError("unavailable", "This deployment does not write replies into chats.");
  }
  await first.start(completion, { principal: owner, userAgent: request.headers["user-agent"] });
}

/** The failure of a reply that has ended. */
async function readFailure(
  chatId: string,
  messageId: string,
  chats: Pick<Chats, "message">,
): Promise<Error | undefined> {
  const found = await chats.message(chatId, messageId);
  const error = found?.message["error"] as { content?: unknown } | null | undefined;
  return error
    ? new AppError("upstream", `The task failed: ${String(error.content ?? "unknown")}`)
    : undefined;
}

/** Titles, tags and follow-ups are the plain model's: no agent, no chat (document 2, Conversation continuity). */
async function answerPlainly(
  { owner, workspace, body, request }: Asked,
  { ids, modelId }: { readonly ids: CallerIds; readonly modelId: string },
  { models, taskModel, times }: AnswerParts,
) {
  const model = await models.resolve(owner, modelId);
  const messages = body.messages as Parameters<TaskModel["ask"]>[0]["messages"];
  const text = await taskModel.ask({
    name: ids.task ?? "task",
    model,
    asked: model,
    messages,
    principal: owner,
    chatId: undefined,
    messageId: undefined,
    signal: request.signal,
  });
  const head = toHead(`${workspace.id}-${request.id}`, body.model);
  if (body.stream === false) {
    return toCompletion(head, text);
  }
  const reply = new ReplyStream();
  reply.text(text);
  reply.end();
  const includesUsage = body.stream_options?.include_usage === true;
  const ended = Promise.resolve(undefined);
  return stream(toFrames(reply, { head, chatId: "", requestId: request.id, times, includesUsage, ended }));
}

function toHead(id: string, model: string): AnswerHead {
  return { id: `chatcmpl-${id}`, created: seconds(), model };
}
