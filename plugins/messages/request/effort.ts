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

export function isThinkingOff({ thinking }: Pick<TranslatedRequest, "thinking">): boolean {
  return thinking?.type === "disabled";
}

function toBudgetEffort(budget: number | null | undefined): string {
  if (budget === undefined || budget === null || budget < smallestBudget) {
    throw new AppError("unprocessable", [
      {
        type: "too_small",
        loc: ["body", "thinking", "budget_tokens"],
        msg: `must be a whole number of at least ${smallestBudget}`,
      },
    ]);
  }
  return budget < 2048 ? "low" : budget < 8192 ? "medium" : "high";
}
