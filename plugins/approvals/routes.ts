import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Answers } from "./answers.ts";
import type { OwnerPolicies } from "./owner-policies.ts";
import type { StoredDecisions } from "./stored-decisions.ts";

const Id = z.string().min(1).max(200);
const Decision = z.enum(["allow", "deny"]);
const CallParams = z.object({ id: Id, message_id: Id, call_id: Id });
const Answer = z
  .object({ decision: Decision, always: z.boolean().default(false) })
  .meta({ id: "ToolApprovalAnswer" });
const Approval = z
  .object({
    id: z.string(),
    tool_id: z.string(),
    name: z.string(),
    title: z.string().nullable(),
    server: z.string().nullable(),
    /** As the tool described itself when the caller decided. */
    description: z.string().nullable(),
    decision: Decision,
    created_at: z.number(),
  })
  .meta({ id: "ToolApproval" });
const Unattended = z.object({ unattended: z.enum(["refuse", "allow"]) }).meta({ id: "UnattendedApprovals" });
const own = "/users/user/approvals";

/** Answers to calls of tools that wait for one, and what was decided for good (contract D.22). */
export function approvalRoutes({
  answers,
  decisions,
  owners,
}: {
  answers: Answers;
  decisions: StoredDecisions;
  owners: OwnerPolicies;
}) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/messages/:message_id/approvals/:call_id",
        summary:
          "Allow or deny a call of a tool that waits for it; `always` decides for all calls of this tool",
        access: "user",
        params: CallParams,
        body: Answer,
        returns: z.literal(true),
        fails: [404, 409],
      },
      async ({ caller, params: { id: chatId, message_id: messageId, call_id: callId }, body }) => {
        await answers.answer(caller, { chatId, messageId, callId }, body);
        return true as const;
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: own,
        summary: "List what the caller decided for all calls of a tool",
        access: "user",
        returns: z.array(Approval),
      },
      ({ caller }) => decisions.list(caller),
    ),
    ...ownerRoutes(owners),
    defineRoute(
      {
        method: "DELETE",
        path: own,
        summary: "Forget all of it: the caller is asked again",
        access: "user",
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await decisions.forgetAll(caller);
        return true as const;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: `${own}/:approval_id` as const,
        summary: "Forget one decision",
        access: "user",
        params: z.object({ approval_id: Id }),
        returns: z.literal(true),
        fails: [404],
      },
      async ({ caller, params }) => {
        await decisions.forget(caller, params.approval_id);
        return true as const;
      },
    ),
  ] as const;
}

/** Choices for runs of automations and programs. */
function ownerRoutes(owners: OwnerPolicies) {
  const path = `${own}/unattended` as const;
  return [
    defineRoute(
      {
        method: "GET",
        path,
        summary: "Read what becomes of calls that would ask where nobody can be asked: automations, API keys",
        access: "user",
        returns: Unattended,
      },
      async ({ caller }) => ({ unattended: await owners.policyOf(caller.userId) }),
    ),
    defineRoute(
      {
        method: "POST",
        path,
        summary: "Choose what becomes of calls that would ask where nobody can be asked",
        access: "user",
        body: Unattended,
        returns: Unattended,
      },
      async ({ caller, body }) => {
        await owners.choose(caller.userId, body.unattended);
        return body;
      },
    ),
  ] as const;
}
