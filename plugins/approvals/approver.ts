import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { ApprovalPolicy, ApprovalState } from "#kernel/tools/approval-state.ts";
import type { ToolApprover } from "#kernel/tools/approval.ts";
import type { Tool, ToolContext } from "#kernel/tools/tool.ts";
import { seconds } from "#storage/clock.ts";
import { askClient } from "./asking.ts";
import type { ApprovalSettings } from "./config.ts";
import type { OpenQuestion, Questions, Verdict } from "./questions.ts";
import { type JudgedTool, type Remembered, toJudged } from "./remembered.ts";

export interface ApproverParts {
  readonly hub: Hub;
  readonly log: Logger;
  readonly questions: Questions;
  readonly remembered: Remembered;
  readonly settings: ApprovalSettings;
}

/** Topic under which replicas tell whether a person has an open client with them. */
export const presence = "approvals.presence";

const refusals: Readonly<Record<"denied" | "expired" | "unreachable", string>> = {
  denied: "The user did not allow this call. Do not make it again unless the user asks for it.",
  expired: "The user did not answer in time, so this call was not made.",
  unreachable: "Nobody was there to allow this call, so it was not made.",
};

/** Asks people before calls run: over the socket of the run, and through the call that their chat shows. */
export function createApprover(parts: ApproverParts): ToolApprover {
  const { remembered, settings } = parts;
  return {
    policyOf: (tool) => toPolicy(tool, settings.policies),
    async ask(tool, parameters, context) {
      const judged = toJudged(tool);
      const { userId } = context.principal;
      const show = (state: ApprovalState) => context.call?.showApproval(state);
      const known = await remembered.find(userId, judged);
      if (known !== undefined) {
        show({ status: known === "allow" ? "allowed" : "denied", always: true });
        refuseUnless(known === "allow", "denied");
        return;
      }
      const verdict = await askPerson({ tool, judged, parameters, context, show }, parts);
      if (verdict.status !== "answered") {
        show({ status: verdict.status });
        throw new AppError("forbidden", refusals[verdict.status]);
      }
      const { decision, always } = verdict.answer;
      if (always) {
        await keep(parts, { userId, judged, decision });
      }
      show({ status: decision === "allow" ? "allowed" : "denied", ...(always && { always }) });
      refuseUnless(decision === "allow", "denied");
    },
  };
}

/** What is said of the function counts before what is said of the tool; for all others the stricter word counts. */
export function toPolicy(tool: Tool, policies: Readonly<Record<string, ApprovalPolicy>>): ApprovalPolicy {
  const of = (key: string) => (Object.hasOwn(policies, key) ? policies[key] : undefined);
  const own = tool.approval ?? "auto";
  const exact = of(`${tool.id}/${tool.spec.name}`) ?? of(tool.id);
  return exact ?? stricter(own, of("*") ?? "auto");
}

const strictness: readonly ApprovalPolicy[] = ["auto", "ask", "deny"];

function stricter(one: ApprovalPolicy, other: ApprovalPolicy): ApprovalPolicy {
  return strictness.indexOf(one) >= strictness.indexOf(other) ? one : other;
}

interface Asking {
  readonly tool: Tool;
  readonly judged: JudgedTool;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly context: ToolContext;
  show(state: ApprovalState): void;
}

/** Waits until somebody answers, the time is over, or nobody is there. Rejects when the run ends. */
async function askPerson(
  { tool, judged, parameters, context, show }: Asking,
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
    tool: judged,
    settle(found) {
      const isFirst = isOpen;
      isOpen = false;
      verdict.resolve(found);
      return isFirst;
    },
  };
  const stop = () => verdict.reject(signal.reason);
  const timer = setTimeout(() => question.settle({ status: "expired" }), timeoutMs);
  const place = chatId && messageId ? { userId: principal.userId, chatId, messageId, callId } : undefined;
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    if (place) {
      questions.add(place, question);
    }
    show({ status: "pending", expires_at: expiresAt });
    const asked = { principal, chatId, messageId, callId, name: tool.spec.name, parameters, expiresAt };
    const answering = sessionId
      ? askClient(hub, { ...asked, sessionId }, { signal: over.signal, timeoutMs })
      : Promise.resolve("absent" as const);
    const seeing = call ? isSeen(hub, principal.userId) : Promise.resolve(false);
    void Promise.all([answering, seeing]).then(([answer, isThere]) => {
      if (answer === "absent" && !isThere) {
        question.settle({ status: "unreachable" });
      }
    });
    void answering.then((answer) => {
      if (typeof answer === "object") {
        question.settle({ status: "answered", answer });
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
async function isSeen(hub: Pick<Hub, "find">, userId: string): Promise<boolean> {
  return (await hub.find(presence, { user_id: userId })) === true;
}

async function keep(
  { remembered, log }: Pick<ApproverParts, "remembered" | "log">,
  { userId, judged, decision }: { userId: string; judged: JudgedTool; decision: "allow" | "deny" },
): Promise<void> {
  try {
    await remembered.keep(userId, judged, decision);
  } catch (error) {
    log.warn(
      { err: error, tool: judged.toolId },
      "a decision about a tool could not be kept; it counts once",
    );
  }
}

function refuseUnless(isAllowed: boolean, reason: keyof typeof refusals): void {
  if (!isAllowed) {
    throw new AppError("forbidden", refusals[reason]);
  }
}
