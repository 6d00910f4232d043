import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineSocketHandler } from "#kernel/sockets/handler.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { RunParts } from "./parts.ts";
import { isTemporary } from "./start.ts";

const Resume = z.object({
  chat_id: z.string().min(1).max(200),
  message_id: z.string().min(1).max(200),
  /** Number of the last event the client has; 0 for none. */
  seq: z.int().min(0),
});

const Question = Resume.extend({ user_id: z.string() });

const topic = "runs.resume";

interface Options {
  readonly parts: Pick<RunParts, "chats" | "hub">;
  readonly live: LiveRuns;
  readonly instanceId: string;
}

/**
 * Answers `chat:resume`: the events after `seq` as `{from, to, events}`, or `{snapshot, seq}` when some are not kept any
 * more. The replica that works on the run answers, whichever is asked; without one the stored message counts (contract
 * D.18).
 */
export function createResume({ parts: { chats, hub }, live, instanceId }: Options) {
  hub.contribute(topic, (asked) => {
    const question = Question.safeParse(asked).data;
    const run = question && live.ofMessage(question.chat_id, question.message_id);
    return run && run.start.principal.userId === question.user_id
      ? answer(run, question.seq, instanceId)
      : null;
  });
  return defineSocketHandler({ data: Resume }, async ({ caller, data }) => {
    const { chat_id: chatId, message_id: messageId } = data;
    if (!isTemporary(chatId)) {
      await chats.require(caller, chatId);
    }
    const found = await hub.find(topic, { ...data, user_id: caller.userId });
    if (found !== undefined) {
      return found;
    }
    const stored = isTemporary(chatId) ? undefined : await chats.message(chatId, messageId);
    if (stored === undefined) {
      throw new AppError("not_found", "Message not found");
    }
    return stored.seq === data.seq
      ? { from: data.seq + 1, to: data.seq, events: [] }
      : { snapshot: stored.message, seq: stored.seq };
  });
}

type Run = NonNullable<ReturnType<LiveRuns["ofMessage"]>>;

function answer({ journal, reply }: Run, seq: number, instanceId: string): object {
  const events = journal.since(seq);
  return events === undefined
    ? { snapshot: reply.snapshot(), seq: journal.seq }
    : {
        from: seq + 1,
        to: journal.seq,
        events: events.map((event) => ({ ...event, instance_id: instanceId })),
      };
}
