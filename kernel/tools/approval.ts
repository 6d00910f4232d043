import { AppError } from "#kernel/errors.ts";
import { defineSlot } from "#kernel/service.ts";
import type { ApprovalPolicy } from "./approval-state.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** Decides about calls of tools; filled by the plugin that asks people. */
export interface ToolApprover {
  /** The policy of now. */
  policyOf(tool: Tool): ApprovalPolicy;
  /** Resolves when the person allows this call of a tool whose policy is `ask`. Throws `forbidden` otherwise. */
  ask(tool: Tool, parameters: Readonly<Record<string, unknown>>, context: ToolContext): Promise<void>;
}

export const toolApprovers = defineSlot<ToolApprover>("kernel.tool-approvers");

/**
 * The tool with its policy in front of every run: whoever runs tools gets them this way and cannot forget it. Where
 * nobody can ask, what needs an approval does not run.
 */
export function withApproval(tool: Tool, approver: ToolApprover | undefined): Tool {
  const policyOf = (): ApprovalPolicy => approver?.policyOf(tool) ?? tool.approval ?? "auto";
  const consent: Tool["consent"] = async (parameters, context) => {
    const policy = policyOf();
    if (policy === "deny") {
      throw new AppError("forbidden", `The tool "${tool.spec.name}" may not be used here.`);
    }
    if (policy === "ask") {
      if (approver === undefined) {
        throw new AppError("forbidden", "This call needs the user's approval, and nobody can be asked.");
      }
      await approver.ask(tool, parameters, context);
    }
    return policy === "ask";
  };
  return {
    ...tool,
    approval: policyOf(),
    consent,
    async run(parameters, context) {
      // The policy of now counts: it may have become stricter since the person was asked about all calls of the round.
      if (context.hasConsent !== true) {
        await consent(parameters, context);
      }
      return await tool.run(parameters, context);
    },
  };
}
