import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import type { Usage } from "#kernel/completion/chunk.ts";
import { ExactNumbers } from "#kernel/completion/exact-numbers.ts";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { type AdmittedRun, type ChatRuns, isTemporary } from "#plugins/completions/service.ts";
import { type RunRequest, type RequestedReply, parseRunRequest } from "./parse-run-request.ts";
import { makeItemId, type OutputItem } from "../reply/items.ts";
import { startRun } from "../live/live-run.ts";
import type { LiveRuns } from "../live/live-runs.ts";
import type { RunParts } from "../parts.ts";
import { personAsked } from "../service.ts";
import { type InsertedReplies, insertMessages } from "./insert-messages.ts";
import type { RunStart } from "../live/run-facts.ts";
import { isWritten } from "../leases/run-store.ts";
import { readItems } from "../history/stored-items.ts";

interface Plan {
  readonly id: string;
  readonly reply: RequestedReply;
  readonly admitted: AdmittedRun;
}

/**
 * Starts chat-bound runs. What is wrong with the request is answered; once its messages stand in the chat the run
 * belongs to the server. Core API, chat completion rules 1, 11 and 15; contract D.16.
 */
export function createStarter(parts: RunParts, live: LiveRuns): ChatRuns {
  return {
    async start(request, { principal, userAgent, text }) {
      const asked = parseRunRequest(request);
      await requireChat(asked, principal, parts);
      // A chat that is about to be made counts as a saved one: a terminal may keep a place for each.
      const chatId = asked.chatId ?? randomUUID();
      const plans = await Promise.all(
        asked.replies.map(async (reply): Promise<Plan> => {
          const own = { ...request, model: reply.modelId, chat_id: chatId };
          return { id: randomUUID(), reply, admitted: await parts.completions.admit(own, { principal }) };
        }),
      );
      requireFree(asked, plans, live);
      const starts = await take(
        plans,
        { principal, userAgent, asked, chatId, numbers: ExactNumbers.read(text) },
        parts,
      );
      const { placed } = starts[0] as RunStart;
      const runs = starts.map((start) => startRun(start, parts));
      runs.forEach(live.add);
      // Somebody may have stopped them before they were there.
      void parts.lease.look();
      tellOfQuestion(asked, starts[0] as RunStart, parts);
      if (asked.chatId === undefined) {
        tellOfChat(placed, principal, parts);
      }
      if (asked.sessionId !== undefined) {
        return { status: true, task_ids: plans.map(({ id }) => id), chat_id: placed.chatId };
      }
      await Promise.all(runs.map(({ ended }) => ended));
      return null;
    },
  };
}

function tellOfQuestion({ userMessage }: RunRequest, { placed, principal }: RunStart, { events }: RunParts) {
  const isInternal = (userMessage?.["meta"] as { internal?: unknown } | null | undefined)?.internal === true;
  if (userMessage !== undefined && !isInternal && placed.chat !== undefined) {
    const { chatId, made } = placed;
    const { id: messageId } = userMessage;
    events.emit(personAsked, { userId: principal.userId, chatId, messageId, isNew: made.has(messageId) });
  }
}

/** Other windows of the owner have not heard of a chat that the server made. */
function tellOfChat({ chatId, chat }: InsertedReplies, { userId }: Principal, { hub }: RunParts): void {
  const data = { chat_id: chatId, folder_id: chat?.folder_id ?? null };
  hub.emit(toRoom("user", userId), "events", toEnvelope({ type: "chat:list", data }, { chatId }));
}

/** Foreign and unknown chats are answered before models are looked at. */
async function requireChat({ chatId }: RunRequest, principal: Principal, { chats }: RunParts): Promise<void> {
  if (chatId !== undefined && !isTemporary(chatId)) {
    await chats.require(principal, chatId);
  }
}

/** Before anything is put into the chat; others than this process are found out where the messages are taken. */
function requireFree({ chatId }: RunRequest, plans: readonly Plan[], live: LiveRuns): void {
  const isTaken = plans.some(({ reply }) => chatId && live.ofMessage(chatId, reply.messageId) !== undefined);
  if (isTaken) {
    throw isWritten();
  }
}

type Common = Pick<RunStart, "principal" | "userAgent" | "asked" | "numbers"> & { readonly chatId: string };

/**
 * Takes the lease, puts the messages in their place, and takes them; all of them, or none. The lease comes first: when
 * this process dies behind it, whoever finds the lease ends the placeholders that were left.
 */
async function take(
  plans: readonly Plan[],
  { chatId, ...common }: Common,
  parts: RunParts,
): Promise<RunStart[]> {
  const { asked, principal } = common;
  const { chats, lease } = parts;
  const rows = plans.map(({ id, reply }) => ({
    id,
    chat_id: chatId,
    message_id: reply.messageId,
    user_id: principal.userId,
  }));
  const starts: RunStart[] = [];
  let made: ReadonlySet<string> = new Set();
  try {
    await lease.acquire(rows);
    const replies = plans.map(({ reply, admitted: { model } }) => ({ reply, model }));
    const placed = await insertMessages(asked, replies, { principal, chats, chatId });
    made = placed.made;
    for (const plan of plans) {
      starts.push(await begin(plan, { ...common, placed }, parts));
    }
    return starts;
  } catch (error) {
    // After a refusal only what was taken or put there is ended. Else nobody knows what the database has done: all of it
    // is ended as if this process had died.
    const begun = new Set(starts.map(({ id }) => id));
    const isLeft = ({ id, message_id }: (typeof rows)[number]) =>
      !(error instanceof AppError) || begun.has(id) || made.has(message_id);
    await lease.abandon(rows.filter(isLeft));
    await lease.release(rows.filter((row) => !isLeft(row)).map(({ id }) => id));
    throw error;
  }
}

async function begin(
  { id, reply, admitted }: Plan,
  common: Omit<Common, "chatId"> & Pick<RunStart, "placed">,
  parts: RunParts,
): Promise<RunStart> {
  const { placed, asked } = common;
  const start = { ...common, id, reply, admitted, before: undefined };
  if (placed.chat === undefined) {
    return { ...start, seq: 0 };
  }
  const { messageId } = reply;
  const place = { chatId: placed.chatId, messageId };
  const before = asked.continues ? await readBefore(place, parts) : undefined;
  const seq = await parts.replies.begin({ ...place, runId: id, keeps: asked.continues });
  if (seq === undefined) {
    throw isWritten();
  }
  return { ...start, seq, before };
}

/** The items and the usage of a reply that is continued. */
async function readBefore(
  { chatId, messageId }: { chatId: string; messageId: string },
  { chats }: RunParts,
): Promise<{ items: OutputItem[]; usage: Usage | undefined }> {
  const { message } = (await chats.message(chatId, messageId)) ?? {};
  const output = message?.["output"];
  const content = message?.["content"];
  const usage = (message?.["usage"] ?? undefined) as Usage | undefined;
  const items = readItems(output);
  if (items.length > 0) {
    // Items that broke off are not written any further.
    return { items: items.map((item) => ({ ...item, status: "completed" }) as OutputItem), usage };
  }
  const text = typeof content === "string" ? content : "";
  const item: OutputItem = {
    type: "message",
    id: makeItemId("msg"),
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text }],
  };
  return { items: text === "" ? [] : [item], usage };
}
