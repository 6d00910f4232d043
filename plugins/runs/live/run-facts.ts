import type { Principal } from "#kernel/access/principal.ts";
import type { Usage } from "#kernel/completion/chunk.ts";
import type { ExactNumbers } from "#kernel/completion/exact-numbers.ts";
import type { AdmittedRun, OpenRun } from "#plugins/completions/service.ts";
import type { RunRequest, RequestedReply } from "../request/parse-run-request.ts";
import type { OutputItem } from "../reply/items.ts";
import type { Journal } from "../reply/journal.ts";
import type { RunParts } from "../parts.ts";
import type { InsertedReplies } from "../request/insert-messages.ts";
import type { Reply } from "../reply/reply.ts";

/** Everything a run was started with. */
export interface RunStart {
  readonly id: string;
  readonly principal: Principal;
  readonly userAgent: string | undefined;
  readonly asked: RunRequest;
  /** Numbers of the request that go out digit for digit. */
  readonly numbers?: ExactNumbers | undefined;
  readonly reply: RequestedReply;
  readonly admitted: AdmittedRun;
  readonly placed: InsertedReplies;
  /** Number of the message's last event. */
  readonly seq: number;
  /** What an interrupted reply had come to. */
  readonly before: { readonly items: OutputItem[]; readonly usage: Usage | undefined } | undefined;
}

/** Why a run was ended from outside; `revoked` with the account of the person who started it. */
export type StopReason = "stopped" | "revoked" | "interrupted" | "lost";

/** How a run's model calls ended. */
export interface RunOutcome {
  readonly open: OpenRun | undefined;
  /** What keeps the reply from being whole. */
  readonly error: string | undefined;
  /** Epoch seconds from which the provider takes the request again, where it says so. */
  readonly retryAt?: number | undefined;
  readonly stopped: StopReason | undefined;
}

/** What the stages of a run share. */
export interface Writing {
  readonly parts: RunParts;
  readonly journal: Journal;
  readonly reply: Reply;
  readonly signal: AbortSignal;
  /** Of the work that follows the reply: a person who stops the reply still gets a title. */
  readonly followUpSignal: AbortSignal;
}
