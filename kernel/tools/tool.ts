import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { ApprovalPolicy, ApprovalState } from "./approval-state.ts";
import type { RunTrust } from "./run-trust.ts";

/** A tool as models see it, with a JSON Schema of its parameters. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ToolContext {
  readonly principal: Principal;
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
  readonly sessionId?: string | undefined;
  readonly signal: AbortSignal;
  /** The call of a reply that the tool runs for, where people see it. */
  readonly call?: ShownCall | undefined;
  /** True when `consent` asked the person about this very call, who allowed it; false when it saw no need to ask. */
  readonly hasConsent?: boolean;
  /** Foreign text that has entered the run; without a record of it, the run counts as one that has some. */
  readonly trust?: RunTrust | undefined;
}

/** A call that people see in a reply. */
export interface ShownCall {
  /** The name that models call. */
  readonly id: string;
  /** Shows whether the call waits for an approval, and what became of that. */
  showApproval(state: ApprovalState): void;
  /** Shows how far the call has come; the last state is kept with the reply. */
  showProgress(progress: CallProgress): void;
  /** Shows a question that the call waits for (`pending`), and that it goes on (`in_progress`). */
  showWaiting(question: Readonly<Record<string, unknown>> | undefined): void;
}

/** How far a call has come, as its tool tells. */
export interface CallProgress {
  /** Work done so far, in units of the tool's own. */
  readonly progress?: number;
  /** All of the work, in the same units. */
  readonly total?: number;
  readonly message?: string;
}

/** A reply whose tools are being chosen. */
export interface ToolRun {
  /** As inlet filters left it. */
  readonly request: CompletionRequest;
  /** As the caller sent it, before the model's prompts and parameters joined it. */
  readonly asked: CompletionRequest;
  readonly model: { readonly id: string; readonly meta: Readonly<Record<string, unknown>> };
  readonly chatId: string | undefined;
  readonly messageId: string | undefined;
  readonly sessionId: string | undefined;
  /** True in a chat whose messages are kept: not without a chat, not in a temporary one. */
  readonly isSaved: boolean;
}

/**
 * One callable that a model may use. The result becomes the tool message: text as it is, a `ToolOutput` (`toolOutput`)
 * with pictures, files and embeds beside its text, anything else as JSON. A text that is one `data:image/…` URI is a
 * picture.
 */
export interface Tool {
  /** What requests name in `tool_ids`; the functions of one workspace tool or tool server share it. */
  readonly id: string;
  readonly spec: ToolSpec;
  /** Key of the model's `meta.builtinTools` that switches it off; contract §3.6. */
  readonly category?: string;
  /** Key of the request's `features` that has to be on, and of the capabilities that the model must not lack. */
  readonly feature?: string;
  /** True for tools of workspaces and tool servers: they are offered only when the request names them. */
  readonly isExternal?: boolean;
  /**
   * True for tools that write, delete or send, false for those that only read; left out where nobody knows, which counts
   * as acting once foreign text has entered the run. Lists of tools mark those that say so.
   */
  readonly isActing?: boolean;
  /** True when calls of one round may run side by side; else they run one after another. */
  readonly isParallel?: boolean;
  /** True when a call of it must be the only one of its round; beside others it is refused, and the model told. */
  readonly isAlone?: boolean;
  /** Permission the caller needs, e.g. `features.calendar`. */
  readonly permission?: `${string}.${string}`;
  /** Whether a call needs the person's approval where the instance says nothing else; `ask-after-untrusted` when left out. */
  readonly approval?: ApprovalPolicy;
  /** Shown to people instead of the name. */
  readonly title?: string;
  /** Where it runs, as people know it: the name of a tool server or terminal. */
  readonly server?: string;
  /** Changes when what a person approved is no longer the same: decisions about an earlier revision do not count. */
  readonly revision?: string;
  /** Asked for each reply, after category, feature and permission: whether the tool makes sense in it. */
  isOffered?(run: ToolRun): boolean | Promise<boolean>;
  /**
   * Asks the person ahead of `run`, where the policy wants it: calls of one round are decided together. Resolves to
   * whether somebody was asked; throws `forbidden`. The registry adds it.
   */
  consent?(parameters: Record<string, unknown>, context: ToolContext): Promise<boolean>;
  run(parameters: Record<string, unknown>, context: ToolContext): Promise<unknown>;
}

export interface ToolSelection {
  readonly principal: Principal;
  /** Ids the request names; a source offers only what the caller may use. */
  readonly toolIds: readonly string[];
  /** The reply that they are chosen for; left out where somebody only looks. */
  readonly run?: ToolRun | undefined;
  /** Told why something that was asked for is not offered, such as a server that does not answer. */
  onProblem?(problem: ToolProblem): void;
}

/** Something that was asked for and is not offered. */
export interface ToolProblem {
  /** What the request named. */
  readonly toolId: string;
  /** A sentence for the person. */
  readonly text: string;
}

/** Tools that come and go at run time (workspace tools, tool servers). */
export interface ToolSource {
  readonly id: string;
  /** Those of `toolIds` that are its own and that the caller may use; asks nobody outside. */
  granted(selection: ToolSelection): Promise<readonly string[]>;
  /**
   * External tools that `toolIds` or the run ask for, and built-in ones of its own. Never throws because of a server
   * that fails: it tells `onProblem`.
   */
  select(selection: ToolSelection): Promise<readonly Tool[]>;
}

/** Declares a native tool. */
export function defineTool(tool: Tool): Tool {
  return tool;
}

/** Tells a source from a tool. */
export function isToolSource(entry: Tool | ToolSource): entry is ToolSource {
  return "select" in entry;
}
