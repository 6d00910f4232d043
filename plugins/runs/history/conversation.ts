import type { CompletionRequest, Message } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import type { ChatMessage } from "#plugins/chats/service.ts";
import type { RunRequest } from "../request/parse-run-request.ts";
import { seesPictures, toMessages } from "./history.ts";
import { inlinePictures } from "./pictures.ts";
import type { RunParts } from "../parts.ts";
import type { InsertedReplies } from "../request/insert-messages.ts";

export interface ConversationOptions {
  readonly parts: RunParts;
  readonly principal: Principal;
  readonly model: ResolvedModel;
  readonly asked: RunRequest;
  readonly placed: InsertedReplies;
  readonly signal: AbortSignal;
  emit(type: string, data: unknown): void;
}

/**
 * The request with the conversation that is stored: with a chat and the user's message, the branch counts and of what
 * was sent only the system message (contract §3.1).
 */
export async function withConversation(
  request: CompletionRequest,
  options: ConversationOptions,
): Promise<CompletionRequest> {
  const { parts, principal, asked, model } = options;
  const stored = await readBranch(options, request.filter_ids ?? undefined);
  const [first] = request.messages;
  const system = first?.role === "system" ? [first] : [];
  const messages = stored
    ? joinSystem([...system, ...mergeSystem(system, toMessages(stored, { sees: seesPictures(model.meta) }))])
    : request.messages;
  const asks: Message[] = asked.regenerationPrompt
    ? [{ role: "user", content: asked.regenerationPrompt }]
    : [];
  const { typesByExtension: byExtension } = parts.settings();
  return {
    ...request,
    messages: await inlinePictures([...messages, ...asks], principal, { files: parts.files, byExtension }),
  };
}

async function readBranch(
  options: ConversationOptions,
  filterIds: readonly string[] | undefined,
): Promise<readonly ChatMessage[] | undefined> {
  const { parts, placed, principal, model, asked, signal, emit } = options;
  const { chat, userMessageId: leafId } = placed;
  // A question that was taken from what was sent says nothing that is not there, and calls of tools are there as well.
  if (chat === undefined || leafId === undefined || asked.earlier !== undefined) {
    return undefined;
  }
  const steps = parts.history.list();
  const sinceSummary = steps.some(({ takesSummaries }) => takesSummaries);
  let branch: readonly ChatMessage[] = await parts.chats.branch(chat.id, leafId, { sinceSummary });
  for (const step of steps) {
    try {
      branch = await step.prepare({ principal, chat, model, leafId, branch, filterIds, signal, emit });
    } catch (error) {
      signal.throwIfAborted();
      parts.log.warn({ err: error }, "the history of a chat could not be prepared; it is used as it is");
    }
  }
  return branch.length > 0 ? branch : undefined;
}

/** A system message that was sent goes before the stored ones; the same words are not said twice. */
function mergeSystem(sent: readonly Message[], stored: Message[]): Message[] {
  const [own] = sent;
  return own === undefined
    ? stored
    : stored.filter(({ role, content }) => role !== "system" || content !== own.content);
}

/** System messages at the beginning become one: not every model takes several (contract §3.2, steps 3 and 12). */
function joinSystem(messages: Message[]): Message[] {
  const end = messages.findIndex(({ role }) => role !== "system");
  const leading = messages.slice(0, end < 0 ? undefined : end);
  const [first] = leading;
  if (first === undefined || leading.length === 1) {
    return messages;
  }
  const contents = leading.map(({ content }) => content ?? "");
  const content = contents.every((one) => typeof one === "string")
    ? contents.filter((text) => text !== "").join("\n\n")
    : contents.flatMap((one) => (typeof one === "string" ? [{ type: "text", text: one }] : one));
  return [{ ...first, content }, ...messages.slice(leading.length)];
}
