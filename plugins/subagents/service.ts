import { defineService } from "#kernel/service.ts";
import type { ToolRun } from "#kernel/tools/tool.ts";

/** The parts of a chat-bound request that hold for later replies of its chat: model, system prompt, tools, parameters. */
export interface CapturedRequest {
  readonly model: string;
  /** The system message that the caller sent. */
  readonly system?: string | undefined;
  readonly [key: string]: unknown;
}

/** A message of the server's own that a chat goes on with. */
export interface InternalMessage {
  /** Ids of the message and its reply follow from it, so that nothing is told twice. */
  readonly id: string;
  readonly userId: string;
  readonly chatId: string;
  readonly content: string;
  /** Marks the message (`meta.internal`); configuration document, Chat message. */
  readonly meta: Readonly<Record<string, unknown>>;
  readonly request: CapturedRequest;
  /** Asked last: false where another process tells it by now. */
  isMine(): Promise<boolean>;
}

/** `busy`: something is written into the chat; `gone`: the chat or its owner is not there any more; `lost`: not mine. */
export type Continued = "told" | "busy" | "gone" | "lost";

/** Lets chats go on by themselves: with results of sub-agents (contract §9). */
export interface ChatContinuation {
  /** ENABLE_SUBAGENTS. */
  isOn(): boolean;
  /** False for replies that may not delegate or wait: of sub-agents, of direct connections, of chats that are not kept. */
  isOpenTo(run: ToolRun): Promise<boolean>;
  /** The members of a reply's request that are kept. */
  capture(run: ToolRun): CapturedRequest;
  /** Puts the message behind what the chat shows, and has it answered. */
  tell(message: InternalMessage): Promise<Continued>;
}

export const chatContinuation = defineService<ChatContinuation>("subagents.continuation");
