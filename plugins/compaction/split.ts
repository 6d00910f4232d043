import type { ChatMessage } from "#plugins/chats/service.ts";
import { estimateMessage } from "./size.ts";

/** A branch as a model gets it: what is long ago as a summary, the rest as it was said. */
export interface Compacted {
  readonly summary: string | undefined;
  readonly rest: readonly ChatMessage[];
}

/** The last summary on a branch and what was said after it. A summary at the very end would leave nothing to answer. */
export function afterSummary(branch: readonly ChatMessage[]): Compacted {
  const at = branch.slice(0, -1).findLastIndex(({ contextSummary }) => isSummary(contextSummary));
  return { summary: branch[at]?.["contextSummary"] as string | undefined, rest: branch.slice(at + 1) };
}

function isSummary(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

export interface SplitRules {
  /** Share of the newest messages that stay. */
  readonly percentage: number;
  /** Tokens that what stays takes at most, as far as whole turns allow. */
  readonly maxTokens: number;
}

/** The messages to summarize and those that stay; undefined when there is nothing before the last turn. */
export function splitBranch(
  messages: readonly ChatMessage[],
  { percentage, maxTokens }: SplitRules,
): { covered: readonly ChatMessage[]; kept: readonly ChatMessage[] } | undefined {
  // A turn stays whole: what is kept begins with a question.
  const cuts = messages.flatMap(({ role }, at) => (at > 0 && role === "user" ? [at] : []));
  const share = Math.min(50, Math.max(10, percentage)) / 100;
  const wanted = messages.length - Math.ceil(messages.length * share);
  const first = cuts.findLastIndex((at) => at <= wanted);
  const candidates = cuts.slice(Math.max(first, 0));
  const sizes = messages.map(estimateMessage);
  // Tokens that stay from each message on.
  for (let at = sizes.length - 2; at >= 0; at -= 1) {
    sizes[at] = (sizes[at] as number) + (sizes[at + 1] as number);
  }
  const cut = candidates.find((at) => (sizes[at] as number) <= maxTokens) ?? candidates.at(-1);
  return cut === undefined ? undefined : { covered: messages.slice(0, cut), kept: messages.slice(cut) };
}
