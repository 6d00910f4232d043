import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";

/** Share of a model's context that question, history and passages may fill: the rest is for the answer. */
const share = 0.75;
/** Least that is given, however full the context is. */
const least = 500;

/**
 * Tokens of a text, estimated: four Latin characters are about one, and of other scripts a character and a half. Texts
 * of megabytes are measured by samples.
 */
export function estimateTokens(text: string): number {
  const { length } = text;
  if (length <= sample * 4) {
    return countTokens(text);
  }
  const starts = [0, Math.floor(length / 3), Math.floor((2 * length) / 3), length - sample];
  const counted = starts.reduce((sum, start) => sum + countTokens(text.slice(start, start + sample)), 0);
  return Math.ceil((counted / (sample * starts.length)) * length);
}

const sample = 4_000;

function countTokens(text: string): number {
  let wide = 0;
  for (let at = 0; at < text.length; at += 1) {
    wide += text.charCodeAt(at) > 0x24f ? 1 : 0;
  }
  return Math.ceil((text.length - wide) / 4 + wide / 1.5);
}

/**
 * Tokens that context may take: what the model's context leaves beside the conversation and its answer, `fallback`
 * where the length of its context is not known.
 */
export function contextBudget(model: ResolvedModel, request: CompletionRequest, fallback: number): number {
  const length = [model.meta["context_length"], request.options?.["num_ctx"], model.params["num_ctx"]].find(
    (value) => typeof value === "number" && value > 0,
  ) as number | undefined;
  if (length === undefined) {
    return fallback;
  }
  const said = request.messages.reduce((sum, { content }) => sum + estimateTokens(toSaid(content)), 0);
  return Math.max(least, Math.floor(length * share) - said);
}

function toSaid(content: CompletionRequest["messages"][number]["content"]): string {
  return typeof content === "string"
    ? content
    : (content ?? []).map((part) => (typeof part["text"] === "string" ? part["text"] : "")).join("\n");
}

/** Tokens that are left of a budget, taken text by text. */
export class Budget {
  left: number;

  constructor(tokens: number) {
    this.left = tokens;
  }

  /** Characters of Latin script that would fill it. */
  get chars(): number {
    return Math.max(0, this.left) * 4;
  }

  /** True, and the tokens are taken, where the whole text fits. */
  takes(text: string): boolean {
    const tokens = estimateTokens(text);
    const fits = tokens <= this.left;
    this.left -= fits ? tokens : 0;
    return fits;
  }

  /** As much of the beginning of a text as fits. */
  cut(text: string): string {
    if (this.takes(text)) {
      return text;
    }
    const end = Math.floor((text.length * this.left) / estimateTokens(text));
    this.left = 0;
    const border = text.lastIndexOf("\n", end);
    return text.slice(0, border > end / 2 ? border : end).trimEnd();
  }
}
