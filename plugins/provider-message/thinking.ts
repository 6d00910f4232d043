/** Facts of a model in the vendor's list; lists of other upstreams have fewer or none. */
export interface ModelFacts {
  readonly max_tokens?: unknown;
  readonly capabilities?: {
    readonly effort?: Readonly<Record<string, unknown>> | null;
    readonly thinking?: { readonly types?: Readonly<Record<string, unknown>> | null } | null;
  } | null;
}

export interface ThinkingChoice {
  readonly effort: string;
  readonly facts: ModelFacts;
  /** The limit of the answer: a budget that is not below it would be refused. */
  readonly limit: number | undefined;
}

export interface ThinkingPlan {
  readonly thinking?: { type: string; budget_tokens?: number };
  readonly effort?: string;
}

/** Tokens to think with, where a model takes no effort; the other direction of contract D.23. */
const budgets: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 4096,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};

const smallestBudget = 1024;

/** How a model is asked to think about as hard as `reasoning_effort` says; empty where it cannot be. */
export function planThinking({ effort, facts, limit }: ThinkingChoice): ThinkingPlan {
  const types = facts.capabilities?.thinking?.types;
  if (effort === "none") {
    return supports(types, "disabled") ? { thinking: { type: "disabled" } } : {};
  }
  const budget = budgets[effort];
  if (budget === undefined) {
    return {};
  }
  const known = facts.capabilities?.effort;
  const named = supports(known, effort) ? effort : effort === "minimal" ? "low" : "high";
  const level = isSupported(known) && supports(known, named) ? { effort: named } : {};
  if (supports(types, "adaptive")) {
    return { thinking: { type: "adaptive" }, ...level };
  }
  const fits = Math.min(budget, (limit ?? Infinity) - 1);
  const isPossible = fits >= smallestBudget && (!types || supports(types, "enabled"));
  return isPossible ? { thinking: { type: "enabled", budget_tokens: fits }, ...level } : level;
}

function supports(bag: Readonly<Record<string, unknown>> | null | undefined, name: string): boolean {
  return isSupported(bag?.[name]);
}

function isSupported(value: unknown): boolean {
  return (value as { supported?: unknown } | null | undefined)?.supported === true;
}
