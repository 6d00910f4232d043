import type { ChatMessage, ContextStep } from "#plugins/chats/service.ts";

/** Tokens around each message on the wire. */
const perMessage = 4;

/** Tokens of a text, estimated: four characters are about one. */
export function estimate(chars: number): number {
  return Math.ceil(chars / 4);
}

/**
 * Tokens that a branch takes of its model's context, told from its leaf towards its root. The last reply's usage counts
 * where the upstream told it, and what came after it is estimated; without it everything is.
 */
export function contextTokens(steps: Iterable<ContextStep>): number {
  let tokens = 0;
  for (const { role, chars, usage, contextTokens: known, summaryChars } of steps) {
    if (typeof known === "number") {
      return tokens + known;
    }
    if (summaryChars !== null && summaryChars > 0) {
      return tokens + estimate(summaryChars) + perMessage;
    }
    const used = role === "assistant" ? usedTokens(usage) : 0;
    if (used > 0) {
      return tokens + used;
    }
    tokens += estimate(chars) + perMessage;
  }
  return tokens;
}

/** Tokens of the latest model call of a reply (Core API, usage block). */
export function usedTokens(usage: unknown): number {
  if (typeof usage !== "object" || usage === null) {
    return 0;
  }
  const counts = usage as Record<string, unknown>;
  const first = (...names: string[]) =>
    names.map((name) => counts[name]).find((value) => typeof value === "number" && value > 0) as
      | number
      | undefined;
  return (
    (first("prompt_tokens", "input_tokens", "prompt_eval_count") ?? 0) +
    (first("completion_tokens", "output_tokens", "eval_count") ?? 0)
  );
}

/** A branch from its leaf towards its root, each message looked at when it is asked for. */
export function* toSteps(branch: readonly ChatMessage[]): Generator<ContextStep> {
  for (let at = branch.length - 1; at >= 0; at -= 1) {
    yield toStep(branch[at] as ChatMessage);
  }
}

/** Tokens of one message, estimated. */
export function estimateMessage(message: ChatMessage): number {
  return estimate(toStep(message).chars) + perMessage;
}

/** A stored message as far as its size goes. */
function toStep(message: ChatMessage): ContextStep {
  const { role, usage, output, contextSummary, contextTokens: known } = message;
  return {
    role: String(role),
    chars: Math.max(textOf(message).length, Array.isArray(output) ? JSON.stringify(output).length : 0),
    usage,
    contextTokens: known,
    summaryChars: typeof contextSummary === "string" ? contextSummary.length : null,
  };
}

/** Tokens of some messages, estimated. */
export function estimateMessages(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0);
}

/** The words of a message, blocks joined. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") {
    return content;
  }
  return Array.isArray(content)
    ? content
        .map((part) => (part as Record<string, unknown> | null)?.["text"])
        .filter((text) => typeof text === "string")
        .join("\n")
    : "";
}
