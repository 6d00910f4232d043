import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineSocketHandler } from "#kernel/sockets/handler.ts";
import type { EndedRun, EndedRuns } from "./ended-runs.ts";
import { toShownOutput } from "../reply/items.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { RunParts } from "../parts.ts";
import { isTemporary } from "#plugins/completions/service.ts";

const Resume = z.object({
  chat_id: z.string().min(1).max(200),
  message_id: z.string().min(1).max(200),
  /** Number of the last event the client has; 0 for none. */
  seq: z.int().min(0),
});

const Question = Resume.extend({ user_id: z.string() });

const topic = "runs.resume";

/** What the replica that works on the run answers when it does not keep the events any more. */
const Snapshot = z.object({ snapshot: z.record(z.string(), z.unknown()), seq: z.number() });

interface Options {
  readonly parts: Pick<RunParts, "chats" | "hub">;
  readonly live: LiveRuns;
  readonly ended: EndedRuns;
  readonly instanceId: string;
  /** Whether some replica works on a message. */
  isUnderWay(chatId: string, messageId: string): Promise<boolean>;
}

/**
 * Answers `chat:resume`: the events after `seq` as `{from, to, events}`, or `{snapshot, seq}` when some are not kept any
 * more. The replica that works on the run answers, whichever is asked, and for some minutes after the end of one that is
 * not stored; else the stored message counts (contract D.18).
 */
export function createResume({ parts: { chats, hub }, live, ended, instanceId, isUnderWay }: Options) {
  const answerHere = (asked: unknown) => {
    const question = Question.safeParse(asked).data;
    if (question === undefined) {
      return null;
    }
    const { chat_id: chatId, message_id: messageId, user_id: userId, seq } = question;
    const run = live.ofMessage(chatId, messageId);
    if (run?.start.principal.userId === userId) {
      const { journal, reply } = run;
      return answer({ journal, snapshot: () => reply.snapshot() }, seq, instanceId);
    }
    const gone = ended.find({ userId, chatId, messageId });
    return gone ? answer(gone, seq, instanceId) : null;
  };
  const askOthers = async (question: z.output<typeof Question>) =>
    // One of them may have died, and all are waited for: of what has ended and is stored nobody is asked.
    isTemporary(question.chat_id) || (await isUnderWay(question.chat_id, question.message_id))
      ? await hub.find(topic, question)
      : undefined;
  hub.contribute(topic, answerHere);
  return defineSocketHandler({ data: Resume }, async ({ caller, data }) => {
    const { chat_id: chatId, message_id: messageId } = data;
    if (!isTemporary(chatId)) {
      await chats.require(caller, chatId);
    }
    const question = { ...data, user_id: caller.userId };
    const found = answerHere(question) ?? (await askOthers(question));
    const growing = Snapshot.safeParse(found).data;
    if (found !== undefined && (growing === undefined || isTemporary(chatId))) {
      return found;
    }
    const stored = isTemporary(chatId) ? undefined : await chats.message(chatId, messageId);
    if (growing !== undefined && stored?.message["done"] === true) {
      // The run is busy with what follows a reply: that may have changed the stored words, and nothing else does.
      return { snapshot: toShown(stored.message), seq: growing.seq };
    }
    if (growing !== undefined) {
      return { ...growing, snapshot: withOthers(growing.snapshot, stored?.message) };
    }
    if (stored === undefined) {
      throw new AppError("not_found", "Message not found");
    }
    return stored.seq === data.seq
      ? { from: data.seq + 1, to: data.seq, events: [] }
      : { snapshot: toShown(stored.message), seq: stored.seq };
  });
}

/** A stored message as clients get it in frames (contract §3.5). */
function toShown(message: Bag): Bag {
  return message["output"] === undefined ? message : { ...message, output: toShownOutput(message["output"]) };
}

const lists = ["sources", "statusHistory", "files", "embeds"] as const;

/** The reply as its run knows it, with what others have added to the stored message meanwhile. */
function withOthers(reply: Bag, stored: Bag | undefined): Bag {
  const merged: Record<string, unknown> = { ...stored, ...reply };
  for (const key of lists) {
    const [own, kept] = [toList(reply[key]), toList(stored?.[key])];
    const known = new Set(kept.map((entry) => JSON.stringify(entry)));
    // Entries that the run has not stored yet are the newest: behind the others, or before them (contract §3.4).
    const fresh = own.filter((entry) => !known.has(JSON.stringify(entry)));
    const list = key === "files" || key === "embeds" ? [...fresh, ...kept] : [...kept, ...fresh];
    if (list.length > 0) {
      merged[key] = list;
    }
  }
  return merged;
}

type Bag = Readonly<Record<string, unknown>>;

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function answer({ journal, snapshot }: EndedRun, seq: number, instanceId: string): object {
  const events = journal.since(seq);
  return events === undefined
    ? { snapshot: snapshot(), seq: journal.seq }
    : {
        from: seq + 1,
        to: journal.seq,
        events: events.map((event) => ({ ...event, instance_id: instanceId })),
      };
}
