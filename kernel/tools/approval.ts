import { AppError } from "#kernel/errors.ts";
import { defineSlot } from "#kernel/service.ts";
import { bringsForeignText, isActing } from "./acting.ts";
import type { ApprovalPolicy } from "./approval-state.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** A call that a person is asked about. */
export interface ApprovalQuestion {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly context: ToolContext;
  /** Where foreign text in the run came from, when the call is asked about because of it. */
  readonly foreign: string | undefined;
}

/** Decides about calls of tools; filled by the plugin that asks people. */
export interface ToolApprover {
  /** The policy of now. */
  policyOf(tool: Tool): ApprovalPolicy;
  /** Resolves when the person allows this call of a tool. Throws `forbidden` otherwise. */
  ask(tool: Tool, question: ApprovalQuestion): Promise<void>;
}

export const toolApprovers = defineSlot<ToolApprover>("kernel.tool-approvers");

/** Runs without a record of what entered them are asked about as if something had. */
const unknownText = "this conversation";

/**
 * The tool with its policy in front of every run: whoever runs tools gets them this way and cannot forget it. Where
 * nobody can ask, what needs an approval does not run.
 */
export function withApproval(tool: Tool, approver: ToolApprover | undefined): Tool {
  const policyOf = (): ApprovalPolicy => approver?.policyOf(tool) ?? tool.approval ?? "ask-after-untrusted";
  const consent: Tool["consent"] = async (parameters, context) => {
    const policy = policyOf();
    if (policy === "deny") {
      throw new AppError("forbidden", `The tool "${tool.spec.name}" may not be used here.`);
    }
    const foreign = policy === "ask-after-untrusted" ? foreignText(tool, context) : undefined;
    if (policy !== "ask" && foreign === undefined) {
      return false;
    }
    if (approver === undefined) {
      throw new AppError("forbidden", "This call needs the user's approval, and nobody can be asked.");
    }
    await approver.ask(tool, { parameters, context, foreign });
    return true;
  };
  return {
    ...tool,
    approval: policyOf(),
    consent,
    async run(parameters, context) {
      // The policy of now counts: it may have become stricter since the person was asked about all calls of the round.
      // Text that entered the run since then does not count: the model had made the call before.
      const isDecided = context.hasConsent === false && policyOf() === "ask-after-untrusted";
      if (context.hasConsent !== true && !isDecided) {
        await consent(parameters, context);
      }
      try {
        return await tool.run(parameters, context);
      } finally {
        if (bringsForeignText(tool)) {
          context.trust?.note(tool.title ?? tool.spec.name);
        }
      }
    },
  };
}

function foreignText(tool: Tool, { trust }: ToolContext): string | undefined {
  return isActing(tool) ? (trust === undefined ? unknownText : trust.source) : undefined;
}
