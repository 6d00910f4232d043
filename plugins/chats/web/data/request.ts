import { settings } from "#plugins/web/kit/stores/settings.svelte.ts";
import type { Attachment } from "#plugins/web/kit/web.ts";
import { textOf } from "./reply.ts";
import type { ChatMessage, ChosenTools, Controls } from "./types.ts";

/** A question and the replies that are asked for. */
export interface Turn {
  readonly question: ChatMessage;
  readonly replies: readonly { readonly id: string; readonly model: string; readonly modelIdx: number }[];
  /** Messages before the question, for chats that are not stored. */
  readonly before: readonly ChatMessage[];
  readonly controls: Controls;
  readonly sessionId: string;
  /** undefined lets the server make the chat. */
  readonly chatId: string | undefined;
  readonly folderId: string | null;
  readonly isFirst: boolean;
  readonly tools: ChosenTools;
  readonly isSpoken?: boolean | undefined;
  readonly instruction?: string | undefined;
  /** The reply goes on where it ended. */
  readonly continues?: boolean;
}

/** What is said about a turn that begins; what is left out follows from its question. */
export interface Asked extends Partial<Omit<Turn, "tools">> {
  /** Left out, those of the chat. */
  readonly tools?: ChosenTools | undefined;
  /** Idempotency key of the request. */
  readonly key?: string | undefined;
}

/** The body of `POST /api/chat/completions` for a turn of a chat (contract §3.1). */
export function toRequest(turn: Turn): Record<string, unknown> {
  const { question, replies, controls, chatId } = turn;
  const [first] = replies;
  const system = controls.system || settings.get("system");
  const { model_controls: picks, function_calling: calling, ...params } = controls.params;
  const isTemporary = chatId?.startsWith("temporary:") ?? false;
  const earlier = isTemporary ? turn.before.map(toTurn) : [];
  return {
    ...params,
    model: first?.model,
    stream: true,
    messages: [
      ...(system === "" ? [] : [{ role: "system", content: system }]),
      ...earlier,
      { role: "user", content: isTemporary ? toContent(question) : question.content },
    ],
    ...(chatId !== undefined && { chat_id: chatId }),
    parent_id: question.parentId,
    session_id: turn.sessionId,
    user_message: {
      id: question.id,
      role: "user",
      parentId: question.parentId,
      content: question.content,
      timestamp: question.timestamp,
      models: question.models,
      ...(question.files?.length && { files: question.files }),
    },
    ...(turn.continues
      ? { id: first?.id, assistant_message_id: first?.id }
      : {
          id: first?.id,
          message_ids: replies.map(({ id, model, modelIdx }) => ({
            model_id: model,
            message_id: id,
            modelIdx,
          })),
        }),
    ...(turn.instruction && { regeneration_prompt: turn.instruction }),
    ...(turn.folderId !== null && (chatId === undefined || isTemporary) && { folder_id: turn.folderId }),
    ...(Object.keys(controls.variables).length > 0 && { chat_variables: controls.variables }),
    ...((picks !== undefined || calling !== undefined) && {
      params: {
        ...(picks !== undefined && { model_controls: picks }),
        ...(calling !== undefined && { function_calling: calling }),
      },
    }),
    ...toTools(turn.tools, turn.isSpoken === true),
    ...(question.files?.length && { files: documentsOf(question.files) }),
    background_tasks: {
      title_generation: turn.isFirst && settings.get("autoTitle"),
      tags_generation: turn.isFirst && settings.get("autoTags"),
      follow_up_generation: settings.get("autoFollowUps"),
    },
  };
}

function toTools(
  { toolIds, features: chosen, excluded, terminalId }: ChosenTools,
  isSpoken: boolean,
): Record<string, unknown> {
  const features = isSpoken ? [...chosen, "voice"] : chosen;
  return {
    ...(toolIds.length > 0 && { tool_ids: toolIds }),
    ...(excluded.length > 0 && { excluded_tool_ids: excluded }),
    ...(features.length > 0 && { features: Object.fromEntries(features.map((name) => [name, true])) }),
    ...(terminalId !== undefined && { terminal_id: terminalId }),
  };
}

function toTurn(message: ChatMessage): { role: string; content: unknown } {
  return { role: message.role, content: message.role === "user" ? toContent(message) : textOf(message) };
}

/** Nobody reads the pictures of a message that is not stored, so they go along. */
function toContent({ content, files }: ChatMessage): unknown {
  const images = (files ?? []).filter(({ type }) => type === "image");
  return images.length === 0
    ? content
    : [
        { type: "text", text: content },
        ...images.map(({ url }) => ({ type: "image_url", image_url: { url } })),
      ];
}

const documentsOf = (files: readonly Attachment[]): Attachment[] =>
  files.filter(({ type }) => type !== "image");
