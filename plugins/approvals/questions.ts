import type { ApprovalState } from "#kernel/tools/approval-state.ts";
import type { Decision, DecidedTool } from "./stored-decisions.ts";

/** The place of a call that waits for an answer. */
export interface CallPlace {
  readonly userId: string;
  readonly chatId: string;
  readonly messageId: string;
  readonly callId: string;
}

/** A person's answer. */
export interface Answer {
  readonly decision: Decision;
  /** For all calls of this tool. */
  readonly always: boolean;
}

/** How a question ended. */
export type Verdict =
  | { readonly status: "answered"; readonly answer: Answer }
  | { readonly status: Extract<ApprovalState["status"], "expired" | "unreachable"> };

/** A question that waits for an answer. */
export interface OpenQuestion {
  readonly tool: DecidedTool;
  /** Resolves the question; true for the first verdict, which counts. */
  resolve(verdict: Verdict): boolean;
}

/** The questions of runs of this process, by the calls that they are about. */
export interface Questions {
  add(place: CallPlace, question: OpenQuestion): void;
  remove(place: CallPlace, question: OpenQuestion): void;
  /** Gives an answer about all calls of a tool to those that wait by now. */
  answerTool(userId: string, tool: DecidedTool, answer: Answer): void;
  /** Gives an answer to the question about a call; resolves to the tool, or undefined when none is open. */
  answer(place: CallPlace, answer: Answer): DecidedTool | undefined;
}

export function createQuestions(): Questions {
  // Models may give two calls of one round the same id: then one answer is for both.
  const open = new Map<string, Set<OpenQuestion>>();
  const ofUser = (userId: string) =>
    [...open].flatMap(([key, questions]) => (key.startsWith(`["${userId}",`) ? [...questions] : []));
  const keyOf = ({ userId, chatId, messageId, callId }: CallPlace) =>
    JSON.stringify([userId, chatId, messageId, callId]);
  return {
    add(place, question) {
      const key = keyOf(place);
      open.set(key, (open.get(key) ?? new Set()).add(question));
    },
    remove(place, question) {
      const key = keyOf(place);
      const waiting = open.get(key);
      if (waiting?.delete(question) && waiting.size === 0) {
        open.delete(key);
      }
    },
    answerTool(userId, { fingerprint }, answer) {
      ofUser(userId)
        .filter(({ tool }) => tool.fingerprint === fingerprint)
        .forEach(({ resolve }) => resolve({ status: "answered", answer }));
    },
    answer(place, answer) {
      const taken = [...(open.get(keyOf(place)) ?? [])].filter(({ resolve }) =>
        resolve({ status: "answered", answer }),
      );
      return taken[0]?.tool;
    },
  };
}
