import { type EventEnvelope, toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { InterruptedReply } from "#plugins/chats/service.ts";
import { toShownOutput } from "../reply/items.ts";
import type { RunParts } from "../parts.ts";
import type { RunRow } from "./run-store.ts";
import { isTemporary } from "#plugins/completions/service.ts";

/**
 * Ends a run whose process is gone: its message keeps what was stored and says that it was interrupted, and the clients
 * of its owner are told (contract D.19).
 */
export async function endOrphan(
  { id: runId, chat_id: chatId, message_id: messageId, user_id: userId }: RunRow,
  parts: Pick<RunParts, "chats" | "hub" | "log" | "replies">,
): Promise<void> {
  const { hub, log } = parts;
  const [stored] = await parts.replies.interrupt([{ runId, chatId, messageId }]);
  if (stored !== undefined) {
    // It has ended, whether its clients hear of it now or read it later.
    await broadcastResult(stored, parts).catch((error: unknown) =>
      log.warn({ err: error, run: runId }, "the clients could not be told of a run that was interrupted"),
    );
  } else if (!isTemporary(chatId)) {
    await skipNumbers({ chatId, messageId }, parts);
  } else {
    const place = { chatId, messageId };
    send(hub, userId, toEnvelope({ type: "chat:message:error", data: failure }, place));
    send(hub, userId, toEnvelope({ type: "chat:completion", data: { done: true, ...failure } }, place));
  }
  const data = { active: false, folder_id: stored?.chat.folderId ?? null };
  send(hub, userId, toEnvelope({ type: "chat:active", data }, { chatId }));
  log.warn({ run: runId }, "a run that nobody works on any more was marked interrupted");
}

/** More events than any run sends after its reply. */
const seqGap = 10_000;

/** Skips numbers after a reply that had ended: those that its last events had are unknown, and none may come twice. */
async function skipNumbers(
  place: { readonly chatId: string; readonly messageId: string },
  { chats, replies }: Pick<RunParts, "chats" | "replies">,
): Promise<void> {
  const found = await chats.message(place.chatId, place.messageId);
  if (found?.message["done"] === true) {
    await replies.saveLastSeq({ ...place, seq: found.seq + seqGap });
  }
}

const failure = { error: { content: "interrupted" } };

async function broadcastResult(
  { chatId, messageId, userId, chat, seq }: InterruptedReply,
  { chats, hub, replies }: Pick<RunParts, "chats" | "hub" | "replies">,
): Promise<void> {
  const found = await chats.message(chatId, messageId);
  const message: Readonly<Record<string, unknown>> = found?.message ?? {};
  const { content, output, usage, sources, error = failure.error } = message;
  const events = [
    { type: "chat:message:error", data: { error } },
    {
      type: "chat:completion",
      data: {
        done: true,
        content,
        output: toShownOutput(output),
        title: chat.title,
        usage,
        sources,
        error,
      },
    },
    { type: "chat:tasks:cancel", data: {} },
  ];
  await replies.saveLastSeq({ chatId, messageId, seq: seq + events.length });
  events.forEach((event, at) =>
    send(hub, userId, toEnvelope(event, { chatId, messageId, seq: seq + at + 1 })),
  );
}

function send(hub: RunParts["hub"], userId: string, envelope: EventEnvelope): void {
  hub.emit(toRoom("user", userId), "events", envelope);
}
