import { isObject, toList } from "#config/json-values.ts";
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
  const { branch: stored, files: earlier } = await readBranch(options, request.filter_ids ?? undefined);
  const [first] = request.messages;
  const system = first?.role === "system" ? [first] : [];
  const messages = stored
    ? joinSystem([...system, ...mergeSystem(system, toMessages(stored, { sees: seesPictures(model.meta) }))])
    : request.messages;
  const asks: Message[] = asked.regenerationPrompt
    ? [{ role: "user", content: asked.regenerationPrompt }]
    : [];
  const { typesByExtension: byExtension } = parts.settings();
  const files = withEarlierFiles(request.files ?? [], earlier);
  return {
    ...request,
    ...(files.length > 0 && { files }),
    messages: await inlinePictures([...messages, ...asks], principal, { files: parts.files, byExtension }),
  };
}

type Files = NonNullable<CompletionRequest["files"]>;

/**
 * What earlier questions brought stays with the chat, so that the next question can be about it. Pictures stand in the
 * messages themselves.
 */
function withEarlierFiles(named: Files, files: readonly unknown[]): Files {
  const known = new Set(named.map(toKey));
  const earlier = files
    .filter((file): file is Files[number] => isObject(file) && typeof file["type"] === "string")
    .filter((file) => {
      const key = toKey(file);
      return file.type !== "image" && !known.has(key) && known.add(key);
    });
  return [...named, ...earlier];
}

function toKey({ type, id, url }: Files[number]): string {
  return `${type} ${String(id ?? url)}`;
}

interface StoredBranch {
  /** Undefined where what was sent counts. */
  readonly branch: readonly ChatMessage[] | undefined;
  /** Of all its questions, first to last. */
  readonly files: readonly unknown[];
}

/** A summary stands for what was said, and not for the files that were named: models may still ask them. */
async function readFiles(
  { chats }: RunParts,
  chatId: string,
  branch: readonly ChatMessage[],
): Promise<readonly unknown[]> {
  const leaf = branch.at(-1);
  const isWhole = (branch[0]?.parentId ?? null) === null;
  return leaf === undefined || isWhole
    ? branch.filter(({ role }) => role === "user").flatMap(({ files }) => toList(files))
    : await chats.branchFiles(chatId, leaf.id);
}

async function readBranch(
  options: ConversationOptions,
  filterIds: readonly string[] | undefined,
): Promise<StoredBranch> {
  const { parts, placed, principal, model, asked, signal, emit } = options;
  const { chat, userMessageId: leafId } = placed;
  // A question that was taken from what was sent says nothing that is not there, and calls of tools are there as well.
  if (chat === undefined || leafId === undefined || asked.earlier !== undefined) {
    return { branch: undefined, files: [] };
  }
  const steps = parts.history.list();
  const sinceSummary = steps.some(({ takesSummaries }) => takesSummaries);
  let branch: readonly ChatMessage[] = await parts.chats.branch(chat.id, leafId, { sinceSummary });
  const files = await readFiles(parts, chat.id, branch);
  for (const step of steps) {
    try {
      branch = await step.prepare({ principal, chat, model, leafId, branch, filterIds, signal, emit });
    } catch (error) {
      signal.throwIfAborted();
      parts.log.warn({ err: error }, "the history of a chat could not be prepared; it is used as it is");
    }
  }
  return { branch: branch.length > 0 ? branch : undefined, files };
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
