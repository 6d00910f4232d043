import type { Attachment } from "#plugins/web/kit/web.ts";
import type { ChosenTools, Queued, Refusal, Sending, Unsent } from "./sending-types.ts";

export type { ChosenTools, Queued, Refusal, Sending, Unsent } from "./sending-types.ts";

/** One stored output item of a reply (contract of `output`): text, reasoning, a call of a tool or its result. */
export interface OutputItem {
  readonly type: string;
  readonly id: string;
  readonly status?: "in_progress" | "pending" | "completed" | "incomplete";
  readonly [key: string]: unknown;
}

export interface StatusLine {
  readonly description: string;
  readonly done?: boolean;
  readonly hidden?: boolean;
  readonly action?: string;
  readonly query?: string;
  readonly queries?: readonly string[];
  readonly urls?: readonly string[];
  /** Pages of `urls` in words; `error` says why one could not be opened. */
  readonly items?: readonly { readonly title?: string; readonly link?: string; readonly error?: string }[];
  readonly count?: number;
}

/** A source that a reply cites; the numbers in its text count sources from 1. */
export interface Source {
  readonly source: {
    readonly id?: string;
    readonly name?: string;
    readonly url?: string;
    readonly type?: string;
  };
  readonly document: readonly string[];
  readonly metadata: readonly Readonly<Record<string, unknown>>[];
  readonly distances?: readonly number[];
}

export interface Rating {
  readonly rating: 1 | -1;
  readonly reason?: string;
  readonly comment?: string;
}

/** A line of the checklist that a model keeps with the tools create_tasks and update_task. */
export interface Task {
  readonly id?: string;
  readonly title?: string;
  readonly content?: string;
  readonly status?: string;
}

/** A message of a chat, own or reply. The object is replaced when anything in it changes, never written to. */
export interface ChatMessage {
  readonly id: string;
  readonly parentId: string | null;
  readonly childrenIds: readonly string[];
  readonly role: "user" | "assistant";
  readonly content: string;
  /** Epoch seconds. */
  readonly timestamp: number;
  readonly files?: readonly Attachment[];
  /** Marks what the server itself says in the person's place: results of sub-agents. */
  readonly meta?: Readonly<Record<string, unknown>> | null;
  /** Own messages: the models that were asked. */
  readonly models?: readonly string[];
  readonly model?: string;
  readonly modelName?: string;
  /** Which column of an answer side by side. */
  readonly modelIdx?: number;
  readonly output?: readonly OutputItem[];
  readonly done?: boolean;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly sources?: readonly Source[];
  readonly statusHistory?: readonly StatusLine[];
  readonly embeds?: readonly string[];
  /** `retry_at`: epoch seconds from which the provider takes it again. */
  readonly error?: { readonly content: string; readonly retry_at?: number };
  /** Why a reply that did not fail is not whole. */
  readonly ending?: "stopped" | "length" | "empty";
  readonly followUps?: readonly string[];
  /** The member of an arena that answered. */
  readonly selectedModelId?: string;
  readonly annotation?: Rating;
  readonly feedbackId?: string;
  readonly favorite?: boolean;
  /** The checklist as this reply left it. */
  readonly tasks?: readonly Task[];
  /** One answer made of several side by side. */
  readonly merged?: { readonly content: string; readonly status?: boolean };
}

/** A call of a tool that waits for a decision. */
export interface Approval {
  readonly messageId: string;
  readonly callId: string;
  readonly name: string;
  /** Shown instead of the name; empty where the tool has none. */
  readonly title: string;
  /** The tool server or terminal that it runs on. */
  readonly server: string;
  readonly arguments: string;
  /** How the tool described itself when the person decided about all calls of it, and how it does now. */
  readonly changed?: { readonly before: string; readonly now: string };
  /** Epoch milliseconds after which it counts as denied. */
  readonly expiresAt: number;
}

/** What a model asks the person in a reply, and waits for. */
export interface AskedCall {
  readonly messageId: string;
  readonly callId: string;
  readonly questions: readonly {
    readonly id: string;
    readonly header: string;
    readonly question: string;
    readonly options: readonly { readonly label: string; readonly description: string }[];
    readonly allowsOther: boolean;
  }[];
  /** Epoch milliseconds after which the reply goes on without an answer, while it is written. */
  readonly expiresAt: number;
}

/** A function that a button beside the replies of a model starts. */
export interface FunctionAction {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Address of a picture; empty for none. */
  readonly icon: string;
}

/** A function at work on a message; with `failure`, one that did not end well. */
export interface ActionRun {
  readonly action: FunctionAction;
  readonly failure?: string;
}

/** What a function of the server asks the person for: yes or no, or a text. */
export interface Question {
  readonly id: number;
  /** The server's name of it: a question that is asked again is the same one. */
  readonly questionId: string;
  /** The reply that is written, or on which a function works. */
  readonly messageId: string | undefined;
  readonly kind: "confirmation" | "input";
  readonly title: string;
  readonly message: string;
  readonly placeholder?: string;
  readonly value?: string;
  readonly isSecret?: boolean;
  /** JSON Schema of a form; the answer is an object then. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** What a person answers to a question; null takes it back. */
export type QuestionAnswer = string | boolean | Readonly<Record<string, unknown>> | null;

/** What is set for one chat alone. */
export interface Controls {
  readonly system: string;
  /** Parameters of the request, such as `temperature`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Values of the chat's variables. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** An edit that another tab overtook: both texts, to be chosen from. */
export interface EditConflict {
  readonly messageId: string;
  readonly mine: string;
  readonly theirs: string;
}

/**
 * One open chat, as its page, composer and messages read it; `ChatStore` implements it with runes, so every read is
 * followed. Methods resolve when the server stored it and reject with `ApiError`; what is typed is never lost.
 */
export interface ChatView {
  /** undefined until the first message was sent. */
  readonly id: string | undefined;
  readonly title: string;
  readonly state: "loading" | "ready" | "missing" | "failed";
  readonly failure: Error | undefined;
  /** It was deleted while it was open. */
  readonly isDeleted: boolean;
  /** False for a chat of somebody else: shown, not written to. */
  readonly canWrite: boolean;
  readonly isTemporary: boolean;
  readonly folderId: string | null;
  readonly isPinned: boolean;
  readonly isArchived: boolean;
  readonly shareId: string | null;
  readonly tags: readonly string[];
  /** Tokens used and available, when known. */
  readonly contextUsage: { readonly used: number; readonly limit: number | null } | undefined;

  /** Ids of `branch`: they stay the same while a reply grows. */
  readonly branchIds: readonly string[];
  /** The messages in sight, from the first to the newest of the chosen branch; of replies side by side the chosen one. */
  readonly branch: readonly ChatMessage[];
  message(id: string): ChatMessage | undefined;
  /** Every message, for the map of the branches. */
  readonly messages: ReadonlyMap<string, ChatMessage>;
  /** False until the server has taken what asks for this reply. */
  isSent(id: string): boolean;
  /** True while this reply is written. */
  isWriting(id: string): boolean;
  /** Ids of all versions of a message, itself included, oldest first; replies side by side are no versions. */
  versions(id: string): readonly string[];
  /** Replies to the same question by several models, in their order; one for a plain reply. */
  columns(replyId: string): readonly ChatMessage[];
  /** True where the messages go on in more than one way. */
  readonly hasBranches: boolean;
  /** The checklist of the chat. */
  readonly tasks: readonly Task[];
  /** Shows the branch that runs through this message to its newest end. */
  show(messageId: string): void;

  /** True while any reply of the chat is written. */
  readonly isRunning: boolean;
  readonly queue: readonly Queued[];
  /** How it stands with what could not be sent; undefined while everything goes through. */
  readonly unsent: Unsent | undefined;
  /** Tries again at once. */
  sendNow(): void;
  /** The newest thing that the server did not take, until the composer has taken it over. */
  refusal: Refusal | undefined;
  readonly approvals: readonly Approval[];
  readonly questions: readonly Question[];
  readonly conflict: EditConflict | undefined;

  readonly models: readonly string[];
  setModels(models: readonly string[]): Promise<void>;
  readonly controls: Controls;
  setControls(change: Partial<Controls>): Promise<void>;
  /** What is on: chosen for this chat, else the defaults of its model. */
  readonly tools: ChosenTools;
  /** True when somebody chose for this chat. */
  readonly hasOwnTools: boolean;
  /** Stores a choice with the chat; undefined goes back to the defaults. */
  setTools(chosen: ChosenTools | undefined): Promise<void>;

  /** Sends, or queues while a run goes on or the server is away. */
  send(sending: Sending): Promise<void>;
  cancelQueued(id: string): Queued | undefined;
  /** Stops what is written or sent; resolves to questions that the server does not have, and are taken back. */
  stop(): Promise<readonly ChatMessage[]>;
  /** A further version of a reply; by another model, or with an instruction for it. */
  regenerate(
    replyId: string,
    options?: { readonly model?: string; readonly instruction?: string },
  ): Promise<void>;
  /** Goes on with a reply that was stopped, interrupted or cut. */
  continueReply(replyId: string): Promise<void>;
  /** Stores an own message as a further version and asks again. */
  resend(messageId: string, text: string, files?: readonly Attachment[]): Promise<void>;
  /** Changes the text of a message in place; `before` is what it said when the change began. */
  edit(messageId: string, text: string, before: string): Promise<void>;
  resolveConflict(keep: "mine" | "theirs"): Promise<void>;
  /** Deletes a message; the returned function brings it back. */
  remove(messageId: string): Promise<() => Promise<void>>;
  rate(replyId: string, rating: Rating | undefined): Promise<void>;
  /** One answer out of the replies side by side. */
  merge(replyId: string): Promise<void>;
  /** The function that works on a message, or failed at it. */
  actionRun(messageId: string): ActionRun | undefined;
  /** Resolves to true when the function did its work. */
  runAction(action: FunctionAction, messageId: string): Promise<boolean>;
  /** Stops the function of a message, or takes its failure away. */
  endAction(messageId: string): void;
  decide(approval: Approval, decision: "allow" | "deny", always?: boolean): Promise<void>;
  /** Answers what a model asks; an interrupted reply goes on then. */
  answerAsked(
    asked: AskedCall,
    answer: { readonly answers: Readonly<Record<string, string>> } | { readonly skipped: true },
  ): Promise<void>;
  answer(question: Question, value: QuestionAnswer): void;
  rename(title: string): Promise<void>;
  /** Stores a temporary chat. */
  keep(): Promise<void>;
  /** Copies the chat up to this message into a new one; resolves to its id. */
  fork(messageId: string): Promise<string>;
}
