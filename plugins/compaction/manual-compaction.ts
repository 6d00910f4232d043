import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type {
  ChatContext,
  ChatFacts,
  ChatMessage,
  Chats,
  ContextMeter,
  Replies,
} from "#plugins/chats/service.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import { type CompactionSettings, thresholdOf } from "./config.ts";
import type { Compaction } from "./service.ts";
import { contextTokens } from "./size.ts";

export interface ManualCompactionParts {
  readonly chats: Pick<Chats, "require" | "branch">;
  readonly context: ChatContext;
  readonly replies: Pick<Replies, "applyEvent">;
  readonly compaction: Compaction;
  readonly hub: Pick<Hub, "emit">;
  readonly models: Pick<Models, "resolve">;
  readonly settings: CompactionSettings;
}

export type ManualCompaction = ReturnType<typeof createManualCompaction>;

/** Compacting on request. */
export function createManualCompaction(parts: ManualCompactionParts) {
  const { chats, compaction, context, hub, models, replies, settings } = parts;
  return {
    /**
     * Compacts the shown branch of the caller's chat. Throws `forbidden` while compaction is switched off, `conflict`
     * while a reply is written, `invalid` when there is nothing to summarise.
     */
    async compact(
      caller: Principal,
      chatId: string,
      how: { model?: string | undefined; signal: AbortSignal },
    ) {
      const chat = await chats.require(caller, chatId);
      if (!settings.enabled) {
        throw new AppError("forbidden", "Compacting chats is switched off.");
      }
      if (await context.isRunning(chatId)) {
        throw new AppError("conflict", "A reply is being written. Stop it first, or wait for its end.");
      }
      const leafId = chat.current_message_id;
      const branch = leafId === null ? [] : await chats.branch(chatId, leafId);
      const model = await models.resolve(caller, how.model ?? modelOf(chat, branch));
      const emitStatus = async (description: string, done: boolean) => {
        const event = { type: "status", data: { action: "context_compaction", description, done } };
        const messageId = leafId ?? undefined;
        if (messageId !== undefined) {
          // A status stays with its message (contract §3.4); what cannot be kept is shown all the same.
          await replies.applyEvent(caller, { chatId, messageId }, event).catch(() => false);
        }
        hub.emit(toRoom("user", caller.userId), "events", toEnvelope(event, { chatId, messageId }));
      };
      await emitStatus("Summarising the older part of the conversation", false);
      let outcome = "The older part of the conversation could not be summarised";
      try {
        const { signal } = how;
        const isExact = how.model !== undefined;
        const request = { principal: caller, chat, leafId: leafId ?? "", branch, model, isExact, signal };
        const compacted = await compaction.compact(request);
        if (compacted === undefined) {
          throw new AppError(
            "invalid",
            "The chat has nothing before its last question that could be summarised.",
          );
        }
        hub.emit(toRoom("user", caller.userId), "events", toEnvelope({ type: "chat:reload" }, { chatId }));
        const { summary, messageId, tokens } = compacted;
        outcome = "Summarised the older part of the conversation";
        const threshold = thresholdOf(settings, model.params);
        return { chat_id: chatId, message_id: messageId, summary, context_usage: { tokens, threshold } };
      } finally {
        await emitStatus(outcome, true);
      }
    },
  };
}

/** Says how full a chat's context is; nothing while compaction is switched off. */
export function createContextMeter({
  context,
  models,
  settings,
}: Pick<ManualCompactionParts, "context" | "models" | "settings">): ContextMeter {
  return {
    async usage(caller, chat) {
      const leaf = chat.current_message_id;
      if (!settings.enabled || leaf === null) {
        return null;
      }
      const steps = await context.contextSteps(chat.id, leaf);
      const model = await findModel(models, caller, modelOf(chat, []));
      return { tokens: contextTokens(steps), threshold: thresholdOf(settings, model?.params) };
    },
  };
}

/** The model that wrote the last reply, or the chat's own. */
function modelOf({ chat }: ChatFacts, branch: readonly ChatMessage[]): string {
  const reply = branch.findLast(({ role, model }) => role === "assistant" && typeof model === "string");
  const models = Array.isArray(chat["models"]) ? (chat["models"] as unknown[]) : [];
  return String(reply?.["model"] ?? models[0] ?? "");
}

async function findModel(
  models: Pick<Models, "resolve">,
  caller: Principal,
  id: string,
): Promise<ResolvedModel | undefined> {
  try {
    return id === "" ? undefined : await models.resolve(caller, id);
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") {
      return undefined;
    }
    throw error;
  }
}
