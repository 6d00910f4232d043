import { AppError } from "#kernel/errors.ts";
import type { TranslatedRequest } from "../schema.ts";

const smallestBudget = 1024;

/**
 * How much the model is to think, on the common wire; undefined leaves it to the model. Contract D.23: disabled
 * thinking wins over output_config.effort, that over reasoning_effort, and a budget counts where no effort is named.
 */
export function toEffort(
  request: Pick<TranslatedRequest, "thinking" | "output_config" | "reasoning_effort">,
): string | undefined {
  const { thinking, output_config: output, reasoning_effort: effort } = request;
  const fromBudget = thinking?.type === "enabled" ? toBudgetEffort(thinking.budget_tokens) : undefined;
  return isThinkingOff(request) ? undefined : (output?.effort ?? effort ?? fromBudget);
}

/** Refuses a budget that leaves nothing of the limit for the answer. Contract D.35. */
export function requireRoom({
  thinking,
  max_tokens: limit,
}: Pick<TranslatedRequest, "thinking" | "max_tokens">): void {
  if (thinking?.type === "enabled" && (thinking.budget_tokens ?? 0) >= limit) {
    throw refuseBudget("too_big", "must be less than max_tokens");
  }
}

export function isThinkingOff({ thinking }: Pick<TranslatedRequest, "thinking">): boolean {
  return thinking?.type === "disabled";
}

function toBudgetEffort(budget: number | null | undefined): string {
  if (budget === undefined || budget === null || budget < smallestBudget) {
    throw refuseBudget("too_small", `must be a whole number of at least ${smallestBudget}`);
  }
  return budget < 2048 ? "low" : budget < 8192 ? "medium" : "high";
}

function refuseBudget(type: string, msg: string): AppError {
  return new AppError("unprocessable", [{ type, loc: ["body", "thinking", "budget_tokens"], msg }]);
}
