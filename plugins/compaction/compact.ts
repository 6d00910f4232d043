import type { Events } from "#kernel/events.ts";
import { AppError } from "#kernel/errors.ts";
import { withoutReasoning } from "#kernel/completion/reasoning-tags.ts";
import type { ChatContext, Chats, ChatMessage } from "#plugins/chats/service.ts";
import type { TaskModel } from "#plugins/completions/service.ts";
import type { Models } from "#plugins/models/service.ts";
import { type CompactionSettings, thresholdOf } from "./config.ts";
import { fillPrompt, pieceTokens, toPieces } from "./prompt.ts";
import type { CompactedBranch, Compaction, CompactRequest } from "./service.ts";
import { contextTokens, estimate, estimateMessages, toSteps } from "./size.ts";
import { afterSummary, splitBranch } from "./split.ts";

export interface CompactionParts {
  readonly chats: Pick<Chats, "branch">;
  readonly context: Pick<ChatContext, "keepSummary">;
  readonly events: Events;
  readonly models: Pick<Models, "resolveAsInstance">;
  readonly taskModel: TaskModel;
  readonly settings: CompactionSettings;
}

/** Most tokens of a summary where the model's own parameters set none. */
const maxTokens = 4_000;
const maxSummaryChars = 100_000;
/** Milliseconds for one call of the model. */
const summaryTimeoutMs = 180_000;

/** Builds the service: one compaction of a chat at a time. */
export function createCompaction(parts: CompactionParts): Compaction {
  const busy = new Map<string, { leafId: string; made: Promise<CompactedBranch | undefined> }>();
  return {
    async compact(request) {
      const { id } = request.chat;
      const { leafId } = request;
      const running = busy.get(id);
      if (running !== undefined && running.leafId !== leafId) {
        throw new AppError("conflict", "The chat is being compacted.");
      }
      // Several models that answer one question read one summary.
      const made = running?.made ?? compact(parts, request).finally(() => busy.delete(id));
      busy.set(id, { leafId, made });
      return await made;
    },
  };
}

async function compact(
  parts: CompactionParts,
  request: CompactRequest,
): Promise<CompactedBranch | undefined> {
  const { chats, context, settings } = parts;
  const { principal, chat, leafId, model } = request;
  const branch = request.branch ?? (await chats.branch(chat.id, leafId));
  const { summary: before, rest } = afterSummary(branch);
  const threshold = thresholdOf(settings, model.params);
  const split = splitBranch(rest, { percentage: settings.retention, maxTokens: threshold });
  const last = split?.covered.at(-1);
  if (split === undefined || last === undefined) {
    return undefined;
  }
  const { covered, kept } = split;
  const summary = await summarize(parts, request, { before, covered, threshold });
  const messageId = last.id;
  const tokens = toTokensAfter({ branch, before, covered, kept, summary });
  if (!(await context.keepSummary(chat.id, { messageId, summary, leafId, tokens }))) {
    throw new AppError("conflict", "The chat was changed while it was compacted.");
  }
  parts.events.announce("chat.compacted", {
    actor: { id: principal.userId, name: principal.name, email: principal.email, role: principal.role },
    subject: { type: "chat", id: chat.id },
    data: { message_id: messageId, messages: covered.length, tokens },
  });
  return { summary, messageId, kept, tokens };
}

/** The size of the context afterwards; tokens besides the messages, such as tools, stay in it. */
function toTokensAfter(facts: {
  branch: readonly ChatMessage[];
  before: string | undefined;
  covered: readonly ChatMessage[];
  kept: readonly ChatMessage[];
  summary: string;
}): number {
  const summary = estimate(facts.summary.length);
  const gone = estimateMessages(facts.covered) + estimate(facts.before?.length ?? 0);
  const counted = contextTokens(toSteps(facts.branch));
  return Math.max(estimateMessages(facts.kept) + summary, counted - gone + summary);
}

interface Material {
  readonly before: string | undefined;
  readonly covered: readonly ChatMessage[];
  readonly threshold: number;
}

async function summarize(
  { models, taskModel, settings }: CompactionParts,
  request: CompactRequest,
  { before, covered, threshold }: Material,
): Promise<string> {
  const { filterIds, isExact, model } = request;
  const set = isExact || settings.model === "" ? undefined : await models.resolveAsInstance(settings.model);
  const asked = {
    name: "context_compaction",
    model,
    asked: isExact ? model : set,
    filterIds,
    maxTokens,
    principal: request.principal,
    chatId: request.chat.id,
    messageId: request.leafId,
  };
  let summary = before ?? "";
  for (const messages of toPieces(covered, pieceTokens(threshold))) {
    const content = fillPrompt(settings.template, { summary, messages });
    const answer = await within(request.signal, (signal) =>
      taskModel.ask({ ...asked, messages: [{ role: "user", content }], signal }),
    );
    summary = withoutReasoning(answer).trim().slice(0, maxSummaryChars).toWellFormed();
    if (summary === "") {
      throw new AppError("upstream", "The model gave no summary.");
    }
  }
  return summary;
}

async function within<T>(signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timeout = AbortSignal.timeout(summaryTimeoutMs);
  try {
    return await ask(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (timeout.aborted && !signal.aborted) {
      throw new AppError("timeout", "The model took too long to write a summary.", { cause: error });
    }
    throw error;
  }
}
