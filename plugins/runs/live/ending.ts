import { toContent } from "#kernel/completion/reply-text.ts";
import type { Message } from "#kernel/completion/request.ts";
import type { Conversation, ConversationMessage } from "#kernel/pipeline/filter.ts";
import { inStage } from "#kernel/work.ts";
import { seconds } from "#storage/clock.ts";
import { toErrorText } from "../errors.ts";
import { toMessages } from "../history/history.ts";
import { toShown, toShownOutput, withText } from "../reply/items.ts";
import { isEndedByPerson, type ShownError, toShownError } from "./outcome.ts";
import type { RunOutcome, RunStart, Writing } from "./run-facts.ts";
import type { RunRow } from "../leases/run-store.ts";

/**
 * The last stages of a run: the reply is stored and shown, then outlet filters see the conversation, then what follows
 * a reply is done; last, the run is given back. Contract §3.2, steps 14 to 16. Never throws.
 */
export async function endRun(start: RunStart, outcome: RunOutcome, writing: Writing): Promise<void> {
  const { parts, reply } = writing;
  const stored = inStage("persist", () => store(start, outcome, writing));
  const isOwn = await stored.catch((error: unknown) => markFailed(start, error, parts));
  if (isOwn === undefined) {
    // It stays in the list, where the next process finds it.
    return;
  }
  if (isOwn) {
    broadcastResult(start, outcome, { ...writing, title: await findTitle(start, parts) });
    if (outcome.error === undefined && (outcome.stopped ?? "stopped") === "stopped") {
      await runFollowUps(start, outcome, writing);
    }
  }
  parts.checkpoints.remove(reply);
  if (!isOwn || (await saveLastSeq(start, writing))) {
    await parts.lease.release([start.id]);
  } else {
    await parts.lease.abandon([toRow(start)]);
  }
}

/** Stores the number of the last event after the reply. False when it is unknown whether that is stored. */
async function saveLastSeq({ placed, reply }: RunStart, { parts, journal }: Writing): Promise<boolean> {
  const place = { chatId: placed.chatId, messageId: reply.messageId, seq: journal.seq };
  return (
    placed.chat === undefined ||
    (await parts.replies.saveLastSeq(place).then(
      () => true,
      () => false,
    ))
  );
}

function toRow({ id, principal, placed, reply }: RunStart): RunRow {
  return { id, chat_id: placed.chatId, message_id: reply.messageId, user_id: principal.userId };
}

/** Marks a reply failed that the database refuses; what was stored of it before stays. */
async function markFailed(
  start: RunStart,
  failure: unknown,
  { replies, lease, log }: Writing["parts"],
): Promise<false> {
  const { id, principal, placed, reply } = start;
  const data = { error: { content: toErrorText(failure, log) } };
  const place = { chatId: placed.chatId, messageId: reply.messageId };
  await replies
    .applyEvent(principal, place, { type: "chat:message:error", data })
    .catch((error: unknown) => log.warn({ err: error, run: id }, "the error of a reply could not be stored"));
  await lease.abandon([toRow(start)]);
  return false;
}

/** Stores the last state. False when the message is another run's by now, or gone: then no client is told. */
async function store(
  start: RunStart,
  outcome: RunOutcome,
  { parts, journal, reply }: Writing,
): Promise<boolean | undefined> {
  const { stopped } = outcome;
  const { placed } = start;
  journal.flush();
  if (stopped === "lost") {
    return false;
  }
  if (placed.chat === undefined) {
    return true;
  }
  const error = toShownError(outcome);
  const place = { runId: start.id, chatId: placed.chatId, messageId: start.reply.messageId };
  return await parts.checkpoints.finish(reply, () => ({
    ...place,
    ...withError(reply.toStore(), error),
    seq: journal.seq,
  }));
}

function withError<S extends { state: object }>(stored: S, error: ShownError | undefined): S {
  return error === undefined ? stored : { ...stored, state: { ...stored.state, error } };
}

/** The chat's title as it is now: people rename chats while replies are written. */
async function findTitle(
  { placed, principal }: RunStart,
  { chats }: Writing["parts"],
): Promise<string | undefined> {
  return (
    placed.chat &&
    (await chats.require(principal, placed.chatId).then(
      ({ title }) => title,
      () => placed.chat?.title,
    ))
  );
}

/** Tells clients how the run ended; the whole message goes out once (contract D.18). */
function broadcastResult(
  start: RunStart,
  outcome: RunOutcome,
  { parts, journal, reply, title }: Writing & { readonly title: string | undefined },
): void {
  const { principal, placed } = start;
  const { stopped } = outcome;
  const error = toShownError(outcome);
  if (error !== undefined) {
    journal.emit("chat:message:error", { error });
  }
  reply.end(error === undefined ? {} : { error });
  const { content, output: _items, extra, files, ...state } = reply.state();
  journal.emit("chat:completion", {
    ...extra,
    ...state,
    done: true,
    content,
    output: structuredClone(reply.output.items.map(toShown)),
    ...(title !== undefined && { title }),
    // Those that are stored nowhere stand in the event that brought them: once is enough for so much data.
    ...(files && placed.chat && { files }),
    ...(error !== undefined && { error }),
  });
  if (error !== undefined || stopped !== undefined) {
    journal.emit("chat:tasks:cancel", {});
  }
  if (placed.chat) {
    parts.events.announce(error === undefined ? "chat.finished" : "chat.failed", {
      actor: { id: principal.userId, name: principal.name, email: principal.email, role: principal.role },
      subject: { type: "chat", id: placed.chatId },
      data: {
        message_id: start.reply.messageId,
        model: start.admitted.model.id,
        title,
        ...(error !== undefined && { error: error.content }),
        ...(isEndedByPerson(stopped) && { stopped: true }),
      },
    });
  }
}

/** A stopped reply goes through no outlet filter; what concerns its chat is done all the same. */
async function runFollowUps(start: RunStart, { open, stopped }: RunOutcome, writing: Writing): Promise<void> {
  const { parts, journal, reply } = writing;
  const signal = stopped === undefined ? writing.signal : writing.followUpSignal;
  const { principal, placed, asked, admitted } = start;
  const { usage } = reply.state();
  const content = toContent(reply.output.items);
  if (open && stopped === undefined) {
    await runOutlet(start, { open, content, usage }, writing);
  }
  const conversation: Message[] = [...(open?.request.messages ?? []), { role: "assistant", content }];
  const followUps = parts.followUps
    .list()
    .filter(({ concerns }) => stopped === undefined || concerns === "chat")
    .toSorted((a, b) => a.order - b.order);
  for (const followUp of followUps) {
    if (signal.aborted) {
      return;
    }
    try {
      await followUp.run({
        principal,
        chatId: placed.chatId,
        chat: placed.chat,
        messageId: start.reply.messageId,
        userMessageId: placed.userMessageId,
        sessionId: asked.sessionId,
        model: admitted.model,
        request: asked.request,
        conversation,
        isFirst: start.reply.isFirst,
        signal,
        emit: (type, data) => journal.emit(type, data),
      });
    } catch (error) {
      parts.log.warn({ err: error, run: start.id }, "work that follows a reply failed");
    }
  }
}

interface Finished {
  readonly open: NonNullable<RunOutcome["open"]>;
  readonly content: string;
  readonly usage: unknown;
}

/** Core API, chat completion rule 14: what outlet filters change is stored beside what the model wrote. */
async function runOutlet(
  start: RunStart,
  { open, content, usage }: Finished,
  { parts, journal, reply }: Writing,
): Promise<void> {
  try {
    let sent: readonly ConversationMessage[] = [];
    const after = await open.outlet(async () => {
      const before = await toConversation(start, { content, usage }, { parts, reply });
      sent = structuredClone(before.messages);
      return before;
    });
    if (after === undefined) {
      return;
    }
    const changed = after.messages.flatMap((message) => toChange(message, sent));
    if (changed.length > 0 && start.placed.chat) {
      const shown = start.placed.chat.id;
      await parts.chats.rewrite(start.principal, shown, changed);
    }
    const messages = after.messages.map((message) => toShownMessage(message, changed));
    const { messageId } = start.reply;
    if (changed.some(({ id }) => id === messageId)) {
      const { content: said, output } = messages.find(({ id }) => id === messageId) as ConversationMessage;
      reply.end({ content: said, output, originalContent: content });
    }
    journal.emit("chat:outlet", { messages });
  } catch (error) {
    parts.log.warn({ err: error, run: start.id }, "the outlet filters failed");
  }
}

async function toConversation(
  { placed, asked, admitted, reply: wanted }: RunStart,
  { content, usage }: Omit<Finished, "open">,
  { parts, reply }: Pick<Writing, "parts" | "reply">,
): Promise<Conversation> {
  const branch =
    placed.chat && placed.userMessageId ? await parts.chats.branch(placed.chatId, placed.userMessageId) : [];
  // Without a stored branch it is what was sent: what the model was told besides is not for its readers (promise S53).
  const sent =
    branch.length > 0
      ? branch.map(({ id, role, content: text, timestamp }) => ({
          id,
          role: String(role),
          content:
            typeof text === "string"
              ? text
              : (toMessages([{ id, parentId: null, childrenIds: [], role, content: text }])[0]?.content ??
                ""),
          timestamp,
        }))
      : asked.request.messages.map((message, at) => ({
          ...message,
          id: `${wanted.messageId}:${at}`,
          content: message.content ?? "",
        }));
  const answer: ConversationMessage = {
    id: wanted.messageId,
    role: "assistant",
    content,
    timestamp: seconds(),
    output: structuredClone(reply.output.items),
    ...(usage !== undefined && { usage }),
  };
  return {
    model: admitted.model.id,
    messages: [...sent, answer],
    filter_ids: asked.request.filter_ids ?? [],
    chat_id: placed.chatId,
    session_id: asked.sessionId,
    id: wanted.messageId,
  };
}

/** The stored change of a message whose words an outlet filter changed: its words before stay readable. */
function toChange(
  { id, content }: ConversationMessage,
  sent: readonly ConversationMessage[],
): { id: string; content: unknown; originalContent: unknown }[] {
  const before = sent.find((message) => message.id === id);
  return before === undefined || JSON.stringify(before.content) === JSON.stringify(content)
    ? []
    : [{ id, content, originalContent: before.content }];
}

/** A message as clients get it: words that a filter took out are not in its output either. */
function toShownMessage(
  message: ConversationMessage,
  changed: readonly { readonly id: string }[],
): ConversationMessage {
  const { id, content, output } = message;
  if (!Array.isArray(output)) {
    return message;
  }
  const isChanged = changed.some((one) => one.id === id);
  return { ...message, output: toShownOutput(isChanged ? withText(output, content) : output) };
}
