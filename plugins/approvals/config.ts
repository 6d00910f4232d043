import { z } from "zod";
import { int, json, type Values } from "#config/variable.ts";
import { approvalPolicies } from "#kernel/tools/approval-state.ts";

const Policies = z.record(z.string().min(1).max(400), z.enum(approvalPolicies));

/** When calls of tools need an approval (contract D.22). */
export const approvalVariables = {
  policies: json(
    "TOOL_APPROVAL_POLICY",
    {},
    {
      schema: Policies,
      key: "tools.approval.policy",
      persisted: true,
      text: 'Whether calls of tools run (auto), ask the person once text of others has entered the run (ask-after-untrusted, the default for tools that act), ask always (ask) or never run (deny), by tool id, "tool id/function" or "*" for all others, such as {"github": "ask"}',
    },
  ),
  timeoutSeconds: int("TOOL_APPROVAL_TIMEOUT_SECONDS", 300, {
    min: 1,
    max: 86_400,
    text: "Seconds that a call of a tool waits for the person's approval; unanswered, it is not made",
  }),
};

export type ApprovalSettings = Values<typeof approvalVariables>;
