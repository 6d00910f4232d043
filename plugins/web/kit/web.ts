import type { Component } from "svelte";
import type { EventEnvelope } from "./stores/socket.svelte.ts";
import type { ShownReply, TalkedChat } from "./talked-chat.ts";

/** What a page's component is given: the named segments of its address. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

/** Takes `PageProps`, or nothing where the address has no named segments. */
// oxlint-disable-next-line typescript/no-explicit-any -- no other type takes both kinds
export type PageComponent = Component<any>;

/** A component that is loaded when it is first shown. */
export type Lazy<Props extends Record<string, unknown> = Record<string, never>> = () => Promise<{
  readonly default: Component<Props>;
}>;

/** A block of the sidebar, such as the list of chats. */
export interface SidebarSection {
  readonly id: string;
  /** Sections stand in this order. */
  readonly order: number;
  readonly load: Lazy;
}

/** A word beside the link of a page in the sidebar, such as how much there is unread. */
export interface PageMark {
  /** Id of the page. */
  readonly page: string;
  /** On the icon alone there is room for a dot. */
  readonly load: Lazy<{ isCollapsed: boolean }>;
}

/** One line of the command palette. */
export interface Command {
  readonly id: string;
  /** Shown text, in the language of now. */
  readonly title: string;
  readonly group: string;
  readonly icon?: string;
  /** Other words that find it. */
  readonly keywords?: string;
  /** Where it is shown, when the page shows some of its settings at a time. */
  readonly path?: string;
  /** As `?` shows it, such as "Mod+Shift+O"; the shell binds it. */
  readonly shortcut?: string;
  run(): void | Promise<void>;
}

/**
 * Commands for what was typed into the palette; without text those that are always there. Of all that comes the palette
 * shows what has every word of the text in its title, group or keywords.
 */
export type CommandSource = (
  query: string,
  signal: AbortSignal,
) => readonly Command[] | Promise<readonly Command[]>;

/** One line of the list that a character opens in the composer. */
export interface Suggestion {
  readonly id: string;
  readonly title: string;
  readonly description?: string;
  readonly icon?: string;
  pick(composer: ComposerHandle): void | Promise<void>;
}

/** What the composer offers to those who add to it. */
export interface ComposerHandle {
  /** Replaces the text that opened the list. */
  insert(text: string): void;
  /**
   * Files, collections, folders, chats and pages that go with the next message; `prepare` makes what is sent of one
   * that is not ready yet, and rejects with the reason why it cannot be had.
   */
  attach(item: Attachment, prepare?: (signal: AbortSignal) => Promise<Attachment>): void;
  /** Switches the model of the next message. */
  setModel(id: string): void;
  /** A feature of the request, such as `web_search`; a tool or a terminal by its id. Of terminals one is on at a time. */
  toggle(kind: "feature" | "tool" | "terminal", id: string): void;
  isOn(kind: "feature" | "tool" | "terminal", id: string): boolean;
  focus(): void;
  /** What is written and not sent yet. */
  readonly text: string;
  /** Sends what is written, once its files are stored. */
  send(): Promise<void>;
}

/** What a message carries beside its text, in the shape of a request's `files`. */
export interface Attachment {
  readonly type: "file" | "collection" | "image" | (string & {});
  readonly id: string;
  readonly name: string;
  readonly [key: string]: unknown;
}

/** An input that a prompt asks for: its `type` names the field, the other properties say more about it. */
export interface InputVariable {
  readonly type: string;
  readonly [property: string]: unknown;
}

/** A list of suggestions that a character at the start of a word opens: prompts, models, files. */
export interface ComposerTrigger {
  readonly character: string;
  readonly title: string;
  readonly order?: number;
  list(query: string, signal: AbortSignal): readonly Suggestion[] | Promise<readonly Suggestion[]>;
}

/** An entry of the composer's plus menu. */
export interface ComposerEntry {
  readonly id: string;
  readonly title: string;
  readonly icon: string;
  readonly order?: number;
  /** Hidden when it answers false. */
  isAvailable?(): boolean;
  run(composer: ComposerHandle): void | Promise<void>;
  isOn?(composer: ComposerHandle): boolean;
}

/** A part of the composer: buttons beside the one that sends, or a strip above the field. */
export interface ComposerPart {
  readonly id: string;
  readonly place: "buttons" | "above";
  readonly order?: number;
  /** Not loaded when it answers false. */
  isAvailable(): boolean;
  readonly load: Lazy<{ composer: ComposerHandle; chat: TalkedChat }>;
}

/** A button below a finished reply. */
export interface ReplyButton {
  readonly id: string;
  readonly order?: number;
  /** Not loaded when it answers false. */
  isAvailable(): boolean;
  readonly load: Lazy<{ reply: ShownReply }>;
}

/** An open chat, as panels beside it see it. */
export interface PanelChat {
  /** Undefined until its first message was sent. */
  readonly id: string | undefined;
  readonly isTemporary: boolean;
  readonly canWrite: boolean;
  /** The terminal that its models use. */
  readonly terminalId: string | undefined;
  setTerminal(id: string | undefined): Promise<void>;
}

/** A panel right of the chat, with a button in the chat's head. */
export interface ChatPanel {
  readonly id: string;
  readonly title: string;
  readonly icon: string;
  readonly order?: number;
  /** The feature of `/api/config` without which it is not offered. */
  readonly feature?: string;
  readonly load: Lazy<{ chat: PanelChat; onclose: () => void }>;
}

/** Shows one stored output item of a reply, by the item's `type`. */
export interface OutputRenderer {
  readonly type: string;
  readonly load: Lazy<{
    item: Readonly<Record<string, unknown>>;
    chatId: string;
    messageId: string;
    /** The reply is still written. */
    isWriting: boolean;
  }>;
}

/** One call of a tool, as a reply shows it. */
export interface ShownToolCall {
  readonly callId: string;
  /** JSON text of the arguments, or what a model wrote instead. */
  readonly given: string;
  /** The tool's answer; undefined while it runs, and where it never did. */
  readonly answer: string | undefined;
}

/** Shows what calls of a tool came to, below the line that names them. */
export interface CallCard {
  /** Name that models call. */
  readonly tool: string;
  readonly load: Lazy<{
    calls: readonly ShownToolCall[];
    /** Empty where the chat is somebody else's. */
    chatId: string;
    messageId: string;
    isWriting: boolean;
  }>;
}

/** A section of the editor of models: what a plugin attaches to a model by keys of its `meta`. */
export interface ModelSection {
  readonly id: string;
  readonly order?: number;
  readonly load: Lazy<{
    meta: Readonly<Record<string, unknown>>;
    /** Merged into `meta`; stored when the model is saved. */
    onchange: (change: Readonly<Record<string, unknown>>) => void;
  }>;
}

/** A view beside the text of a file, such as its passages. */
export interface FileView {
  readonly id: string;
  readonly title: string;
  readonly order?: number;
  readonly load: Lazy<{
    fileId: string;
    /** Shows a span of the text, in UTF-16 units. */
    onshow: (start: number, end: number) => void;
  }>;
}

/** Runs code that stands in a text, below its block. */
export interface CodeRunner {
  /** Names of fences. */
  readonly languages: readonly string[];
  isAvailable(): boolean;
  /** A higher `attempt` runs it again. */
  readonly load: Lazy<{ text: string; attempt: number; onclose: () => void }>;
}

/** Answers calls that the server makes to this client in the event `events`, whichever page is open. */
export interface CallAnswerer {
  /** The event's type, such as `execute:python`. */
  readonly type: string;
  load(): Promise<{ answer(envelope: EventEnvelope): Promise<unknown> }>;
}

/** Adds to the requests of chats what this client alone knows. */
export interface RequestPart {
  /** False where it adds nothing, so that nothing is loaded. */
  isNeeded(): boolean;
  load(): Promise<{ toPart(): Promise<Readonly<Record<string, unknown>>> }>;
}

/** One setting that the search beside the pages of a section finds. */
export interface SettingEntry {
  /** Id of the page that it stands on. */
  readonly page: string;
  /** As its page shows it: the row or section with this title is scrolled to. */
  readonly title: string;
  /** Other words that find it. */
  readonly keywords?: string;
  /** Where it is shown, when the page shows some of its settings at a time. */
  readonly path?: string;
}

/** A block in the settings pages, beside those that are pages of their own. */
export interface WebPlugin {
  /** Page id → component. */
  readonly pages?: Readonly<Record<string, () => Promise<{ readonly default: PageComponent }>>>;
  /** Page id → false while the sidebar leaves the page out, because its feature is off; its address opens all the same. */
  readonly listed?: Readonly<Record<string, () => boolean>>;
  readonly sidebar?: readonly SidebarSection[];
  readonly pageMarks?: readonly PageMark[];
  readonly commands?: readonly CommandSource[];
  readonly triggers?: readonly ComposerTrigger[];
  readonly composer?: readonly ComposerEntry[];
  readonly composerParts?: readonly ComposerPart[];
  readonly replyButtons?: readonly ReplyButton[];
  readonly renderers?: readonly OutputRenderer[];
  readonly callCards?: readonly CallCard[];
  readonly runners?: readonly CodeRunner[];
  readonly calls?: readonly CallAnswerer[];
  readonly panels?: readonly ChatPanel[];
  readonly modelSections?: readonly ModelSection[];
  readonly fileViews?: readonly FileView[];
  readonly requestParts?: readonly RequestPart[];
  /** Settings of its pages, in the language of now; loaded when somebody searches. */
  readonly settings?: readonly (() => Promise<readonly SettingEntry[]>)[];
}

/** Declares what a plugin's `web/index.ts` adds to the interface. */
export const defineWeb = (web: WebPlugin): WebPlugin => web;
