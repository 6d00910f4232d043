import type { Logger } from "#kernel/log.ts";
import type { ChatMessage } from "#plugins/chats/service.ts";
import type { HistoryRun, HistoryStep } from "#plugins/runs/service.ts";
import { type CompactionSettings, thresholdOf } from "./config.ts";
import type { Compaction } from "./service.ts";
import { contextTokens, toSteps } from "./size.ts";
import { afterSummary } from "./split.ts";

interface Parts {
  readonly compaction: Compaction;
  readonly settings: CompactionSettings;
  readonly log: Logger;
}

/** Puts the last summary in place of what it covers, and makes a new one when the branch outgrows its model (contract §3.2, step 3). */
export function createHistoryStep(parts: Parts): HistoryStep {
  return {
    takesSummaries: true,
    async prepare(run) {
      const { branch, model } = run;
      const { settings } = parts;
      const known = afterSummary(branch);
      const isTooLong =
        settings.enabled && contextTokens(toSteps(branch)) > thresholdOf(settings, model.params);
      const fresh = isTooLong ? await tryCompact(parts, run) : undefined;
      const { summary, rest } = fresh ?? known;
      return summary === undefined ? branch : [toSystemMessage(summary), ...rest];
    },
  };
}

/** Compacts the branch; a failure leaves the chat as it is, for the model may still take it. */
async function tryCompact({ compaction, log }: Parts, run: HistoryRun) {
  const { emit: _emit, ...request } = run;
  const emitStatus = (description: string, done: boolean) =>
    run.emit("status", { action: "context_compaction", description, done });
  emitStatus("Summarising the older part of the conversation", false);
  try {
    const compacted = await compaction.compact(request);
    emitStatus(
      compacted ? "Summarised the older part of the conversation" : "The conversation stays as it is",
      true,
    );
    return compacted && { summary: compacted.summary, rest: compacted.kept };
  } catch (error) {
    run.signal.throwIfAborted();
    log.warn({ err: error, chat: run.chat.id }, "a chat could not be compacted");
    emitStatus("The older part of the conversation could not be summarised", true);
    return undefined;
  }
}

function toSystemMessage(summary: string): ChatMessage {
  const content = `Summary of the earlier part of this conversation:\n\n${summary}`;
  return { id: "context-summary", role: "system", content, parentId: null, childrenIds: [] };
}
