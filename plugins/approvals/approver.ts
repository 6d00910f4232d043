import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { approvalPolicies, type ApprovalPolicy, type ApprovalState } from "#kernel/tools/approval-state.ts";
import type { ToolApprover } from "#kernel/tools/approval.ts";
import type { Tool, ToolContext } from "#kernel/tools/tool.ts";
import { seconds } from "#storage/clock.ts";
import { askClient } from "./ask-client.ts";
import type { ApprovalSettings } from "./config.ts";
import type { OwnerPolicies } from "./owner-policies.ts";
import type { OpenQuestion, Questions, Verdict } from "./questions.ts";
import { type DecidedTool, type StoredDecisions, toDecidedTool } from "./stored-decisions.ts";

export interface ApproverParts {
  readonly hub: Hub;
  readonly log: Logger;
  readonly questions: Questions;
  readonly decisions: StoredDecisions;
  readonly settings: ApprovalSettings;
  readonly owners: OwnerPolicies;
}

/** Topic of the question whether a person has an open client on a replica. */
export const presence = "approvals.presence";

const refusals: Readonly<Record<"denied" | "expired" | "unreachable", string>> = {
  denied: "The user did not allow this call. Do not make it again unless the user asks for it.",
  expired: "The user did not answer in time, so this call was not made.",
  unreachable: "Nobody was there to allow this call, so it was not made.",
};

/** Asks people before calls run: over the socket of the run, and through the call that their chat shows. */
export function createApprover(parts: ApproverParts): ToolApprover {
  const { decisions, settings } = parts;
  return {
    policyOf: (tool) => toPolicy(tool, settings.policies),
    async ask(tool, { parameters, context, foreign }) {
      const decidedTool = toDecidedTool(tool);
      const { userId } = context.principal;
      const known = await decisions.find(userId, decidedTool);
      const changed = known?.isOutdated && { before: known.description, now: decidedTool.description };
      const show = (state: ApprovalState) =>
        context.call?.showApproval({
          ...state,
          ...(changed && { changed }),
          ...(foreign !== undefined && { foreign }),
        });
      if (known?.isOutdated === false) {
        show({ status: known.decision === "allow" ? "allowed" : "denied", always: true });
        refuseUnless(known.decision === "allow", "denied");
        return;
      }
      if (foreign !== undefined && isUnattended(context)) {
        const isAllowed = (await parts.owners.policyOf(userId)) === "allow";
        show({ status: isAllowed ? "allowed" : "denied" });
        if (!isAllowed) {
          throw new AppError("forbidden", refusedUnattended(foreign));
        }
        return;
      }
      const asking = { decidedTool, parameters, context, hasChanged: Boolean(changed), show, foreign };
      const verdict = await askPerson(asking, parts);
      if (verdict.status !== "answered") {
        show({ status: verdict.status });
        throw new AppError("forbidden", refusals[verdict.status]);
      }
      const { decision, always } = verdict.answer;
      if (always) {
        parts.questions.answerTool(userId, decidedTool, { decision, always });
        await store(parts, { userId, decidedTool, decision });
      }
      show({ status: decision === "allow" ? "allowed" : "denied", ...(always && { always }) });
      refuseUnless(decision === "allow", "denied");
    },
  };
}

/**
 * The policy of the function wins over that of the tool; without either, the stricter of the tool's own and `*` counts. Only
 * administrators choose `auto` for tools of others.
 */
export function toPolicy(tool: Tool, policies: Readonly<Record<string, ApprovalPolicy>>): ApprovalPolicy {
  const of = (key: string) => (Object.hasOwn(policies, key) ? policies[key] : undefined);
  const general = of("*") ?? "ask-after-untrusted";
  const exact = of(`${tool.id}/${tool.spec.name}`) ?? of(tool.id);
  return exact ?? stricter(tool.approval ?? general, general);
}

function stricter(one: ApprovalPolicy, other: ApprovalPolicy): ApprovalPolicy {
  return approvalPolicies.indexOf(one) >= approvalPolicies.indexOf(other) ? one : other;
}

/** Runs of automations, and those that programs start without a client of the person. */
function isUnattended({ principal, sessionId }: ToolContext): boolean {
  return principal.automationId !== undefined || (principal.credential === "api_key" && !sessionId);
}

const refusedUnattended = (foreign: string) =>
  `This call was not made: it acts, text of others has entered the run (${foreign}), and nobody can be asked here. The owner of the account allows such calls in the settings, under remembered approvals.`;

interface Asking {
  readonly decidedTool: DecidedTool;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly context: ToolContext;
  /** The tool is not what the person decided about before. */
  readonly hasChanged: boolean;
  readonly foreign: string | undefined;
  show(state: ApprovalState): void;
}

/** Waits for an answer, the time limit, or the absence of the person. Rejects when the run ends. */
async function askPerson(
  { decidedTool, parameters, context, hasChanged, foreign, show }: Asking,
  { hub, questions, settings }: ApproverParts,
): Promise<Verdict> {
  const { principal, chatId, messageId, sessionId, signal, call } = context;
  const timeoutMs = settings.timeoutSeconds * 1000;
  const expiresAt = seconds() + settings.timeoutSeconds;
  const callId = call?.id ?? randomUUID();
  const over = new AbortController();
  const verdict = Promise.withResolvers<Verdict>();
  let isOpen = true;
  const question: OpenQuestion = {
    tool: decidedTool,
    resolve(found) {
      const isFirst = isOpen;
      isOpen = false;
      verdict.resolve(found);
      return isFirst;
    },
  };
  const stop = () => verdict.reject(signal.reason);
  const timer = setTimeout(() => question.resolve({ status: "expired" }), timeoutMs);
  const place = chatId && messageId ? { userId: principal.userId, chatId, messageId, callId } : undefined;
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    if (place) {
      questions.add(place, question);
    }
    show({ status: "pending", expires_at: expiresAt });
    const asked = {
      principal,
      chatId,
      messageId,
      callId,
      tool: decidedTool,
      parameters,
      expiresAt,
      hasChanged,
      foreign,
    };
    const answering = sessionId
      ? askClient(hub, { ...asked, sessionId }, { signal: over.signal, timeoutMs })
      : Promise.resolve("absent" as const);
    const present = call ? waitForPresence(hub, principal.userId) : Promise.resolve(false);
    void Promise.all([answering, present]).then(([answer, isThere]) => {
      if (answer === "absent" && !isThere) {
        question.resolve({ status: "unreachable" });
      }
    });
    void answering.then((answer) => {
      if (typeof answer === "object") {
        question.resolve({ status: "answered", answer });
      }
    });
    return await verdict.promise;
  } catch (error) {
    show({ status: "cancelled" });
    throw error;
  } finally {
    isOpen = false;
    over.abort();
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    if (place) {
      questions.remove(place, question);
    }
  }
}

/** Whether the person has an open client on any replica. */
async function waitForPresence(hub: Pick<Hub, "find">, userId: string): Promise<boolean> {
  return (await hub.find(presence, { user_id: userId })) === true;
}

async function store(
  { decisions, log }: Pick<ApproverParts, "decisions" | "log">,
  { userId, decidedTool, decision }: { userId: string; decidedTool: DecidedTool; decision: "allow" | "deny" },
): Promise<void> {
  try {
    await decisions.store(userId, decidedTool, decision);
  } catch (error) {
    log.warn(
      { err: error, tool: decidedTool.toolId },
      "a decision about a tool could not be stored; it counts once",
    );
  }
}

function refuseUnless(isAllowed: boolean, reason: keyof typeof refusals): void {
  if (!isAllowed) {
    throw new AppError("forbidden", refusals[reason]);
  }
}
