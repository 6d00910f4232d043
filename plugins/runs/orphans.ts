import { type EventEnvelope, toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { InterruptedReply } from "#plugins/chats/service.ts";
import { toShownOutput } from "./items.ts";
import type { RunParts } from "./parts.ts";
import type { RunRow } from "./run-store.ts";

/**
 * Ends runs whose process is gone: their messages keep what was stored and say that they were interrupted, and the
 * clients of their owners are told (contract D.19).
 */
export async function endOrphans(
  runs: readonly RunRow[],
  { chats, hub, log }: Pick<RunParts, "chats" | "hub" | "log">,
): Promise<void> {
  const interrupted = await chats.interrupt(
    runs.map(({ id, chat_id: chatId, message_id: messageId }) => ({ runId: id, chatId, messageId })),
  );
  for (const reply of interrupted) {
    await tell(reply, { chats, hub });
  }
  for (const { user_id: userId, chat_id: chatId, message_id: messageId } of runs) {
    const stored = interrupted.find((reply) => reply.chatId === chatId && reply.messageId === messageId);
    const place = { chatId, messageId };
    if (chatId.startsWith("temporary:") && stored === undefined) {
      send(hub, userId, toEnvelope({ type: "chat:message:error", data: failure }, place));
      send(hub, userId, toEnvelope({ type: "chat:completion", data: { done: true, ...failure } }, place));
    }
    send(
      hub,
      userId,
      toEnvelope(
        { type: "chat:active", data: { active: false, folder_id: stored?.chat.folderId ?? null } },
        { chatId },
      ),
    );
  }
  log.warn({ runs: runs.length }, "runs that nobody works on any more were marked interrupted");
}

const failure = { error: { content: "interrupted" } };

async function tell(
  { chatId, messageId, userId, chat, seq }: InterruptedReply,
  { chats, hub }: Pick<RunParts, "chats" | "hub">,
): Promise<void> {
  const found = await chats.message(chatId, messageId);
  const { content, output, usage, sources }: Readonly<Record<string, unknown>> = found?.message ?? {};
  const events = [
    { type: "chat:message:error", data: failure },
    {
      type: "chat:completion",
      data: {
        done: true,
        content,
        output: toShownOutput(output),
        title: chat.title,
        usage,
        sources,
        ...failure,
      },
    },
    { type: "chat:tasks:cancel", data: {} },
  ];
  await chats.settle({ chatId, messageId, seq: seq + events.length });
  events.forEach((event, at) =>
    send(hub, userId, toEnvelope(event, { chatId, messageId, seq: seq + at + 1 })),
  );
}

function send(hub: RunParts["hub"], userId: string, envelope: EventEnvelope): void {
  hub.emit(toRoom("user", userId), "events", envelope);
}
