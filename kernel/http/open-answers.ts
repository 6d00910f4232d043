import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { type Authenticator, concerns, type RequestFacts } from "#kernel/access/authenticator.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { reauthorize, reauthorizeAll } from "#kernel/access/reauthorize.ts";
import { AppError } from "#kernel/errors.ts";
import type { Credential } from "./credential.ts";
import { requireAccess } from "./gate.ts";
import { LongBody } from "./long-body.ts";
import { type AnyRoute, Relay, Reply, Stream } from "./route.ts";

/** An answer that goes on after its caller was let in, with what the caller was let in by. */
export interface OpenAnswer {
  readonly res: ServerResponse;
  readonly route: AnyRoute;
  readonly credential: Credential;
  readonly caller: Principal;
  readonly facts: RequestFacts;
}

/** Ends streams whose caller would be turned away by now (security case S99; sockets have renewal.ts for it). */
export interface OpenAnswers {
  /** Counts the changes so far; taken before a credential is caller_, it tells whether that is still true. */
  readonly changes: number;
  /** Breaks `answer` off, as a lost connection would, once its credential is no good; `knownAt` is the count of then. */
  watch(answer: OpenAnswer, knownAt: number): void;
}

export function createOpenAnswers(authenticator: Authenticator): OpenAnswers {
  const open = new Set<OpenAnswer>();
  const state = { changes: 0 };

  async function checkAnswer(answer: OpenAnswer): Promise<void> {
    const outcome = await reauthorize(
      () => open.has(answer),
      async () => {
        const caller = await authenticator.authenticate(answer.credential, answer.facts);
        requireAccess(answer.route, caller);
        return caller;
      },
    );
    if (outcome instanceof AppError) {
      answer.res.destroy();
    }
  }
  authenticator.onChange((change) => {
    state.changes += 1;
    void reauthorizeAll(
      [...open].filter(({ caller }) => concerns(change, caller)),
      checkAnswer,
    );
  });

  return {
    get changes() {
      return state.changes;
    },
    watch(answer, knownAt) {
      if (answer.res.closed) {
        return;
      }
      open.add(answer);
      answer.res.once("close", () => open.delete(answer));
      if (knownAt !== state.changes) {
        void checkAnswer(answer);
      }
    },
  };
}

/** Whether an answer is still being written when its handler has returned. */
export function isLasting(answer: unknown): boolean {
  const value = answer instanceof Reply ? answer.value : answer;
  return (
    answer instanceof Stream ||
    answer instanceof Relay ||
    value instanceof Readable ||
    value instanceof LongBody
  );
}
