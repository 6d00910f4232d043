import type { OutputItem } from "../../data/types.ts";
import { inWords } from "#plugins/web/kit/in-words.ts";
import { resultText } from "../reply-parts.ts";

type Bag = Readonly<Record<string, unknown>>;

/** `asking`: waits for the person's answer to a question of the tool; `waiting`: for their approval. */
export type CallState = "running" | "asking" | "waiting" | "done" | "failed" | "refused" | "unrun";

/** How far a call is; without `total` only what was done so far is known. */
export interface CallStep {
  readonly share: number | undefined;
  readonly progress: number | undefined;
  readonly total: number | undefined;
  readonly message: string;
}

/** A person's part in a call. */
export interface CallApproval {
  readonly status: string;
  readonly always: boolean;
  readonly hasChanged: boolean;
  /** Where text of others came from that made the call ask. */
  readonly foreign: string;
}

/** A call of a tool with its result, as people read it. */
export interface CallFacts {
  readonly id: string;
  /** Name that models call. */
  readonly name: string;
  readonly title: string;
  readonly server: string;
  readonly toolId: string;
  readonly state: CallState;
  readonly step: CallStep | undefined;
  readonly approval: CallApproval | undefined;
  /** JSON text, or what a model wrote instead of it. */
  readonly given: string;
  readonly answer: string;
  readonly isTruncated: boolean;
  /** Epoch milliseconds. */
  readonly startedAt: number | undefined;
  readonly durationMs: number | undefined;
  readonly call: OutputItem;
  readonly result: OutputItem | undefined;
}

const cutMark = /\n?\[output truncated[^\]\n]*\]\s*$/;
const refusing = new Set(["denied", "expired", "unreachable", "cancelled"]);

/** Reads a call as it is stored or still written; replies of other programs may lack anything. */
export function readCall(call: OutputItem, result: OutputItem | undefined, isWriting: boolean): CallFacts {
  const tool = toBag(call["tool"]);
  const answer = result ? resultText(result) : "";
  const approval = toApproval(call["approval"]);
  const name = String(call["name"] ?? "");
  return {
    id: call.id,
    name,
    title: textOf(tool["title"]) || inWords(name),
    server: textOf(tool["server"]),
    toolId: textOf(tool["id"]),
    state: toState({ call, result, approval, answer, isWriting }),
    step: toStep(call["progress"]),
    approval,
    given: String(call["arguments"] ?? ""),
    answer: answer.replace(cutMark, ""),
    isTruncated: cutMark.test(answer),
    startedAt: numberOf(call["started_at"]),
    durationMs: toDuration(call, result),
    call,
    result,
  };
}

interface Read {
  readonly call: OutputItem;
  readonly result: OutputItem | undefined;
  readonly approval: CallApproval | undefined;
  readonly answer: string;
  readonly isWriting: boolean;
}

function toState({ call, result, approval, answer, isWriting }: Read): CallState {
  if (approval && refusing.has(approval.status)) {
    return "refused";
  }
  if (result) {
    return result["is_error"] === true || /^Error\b/.test(answer) ? "failed" : "done";
  }
  if (!isWriting) {
    // A question outlives the server that asked it.
    return call["question"] && call.status === "pending" ? "asking" : "unrun";
  }
  if (approval?.status === "pending") {
    return "waiting";
  }
  return call["question"] ? "asking" : "running";
}

function toApproval(value: unknown): CallApproval | undefined {
  const { status, always, changed, foreign } = toBag(value);
  return typeof status === "string"
    ? { status, always: always === true, hasChanged: changed !== undefined, foreign: textOf(foreign) }
    : undefined;
}

function toStep(value: unknown): CallStep | undefined {
  const { progress: done, total: all, message } = toBag(value);
  const [progress, total] = [numberOf(done), numberOf(all)];
  if (progress === undefined && textOf(message) === "") {
    return undefined;
  }
  const share = progress !== undefined && total !== undefined && total > 0 ? progress / total : undefined;
  return { share: share && Math.min(1, Math.max(0, share)), progress, total, message: textOf(message) };
}

/** Milliseconds; other programs store seconds as `duration`. */
function toDuration(call: OutputItem, result: OutputItem | undefined): number | undefined {
  const seconds = numberOf(call["duration"]) ?? numberOf(result?.["duration"]);
  return numberOf(result?.["duration_ms"]) ?? (seconds === undefined ? undefined : seconds * 1000);
}

/** How often the same call was made before in this reply, this time included: models repeat what failed. */
export function attemptOf(call: OutputItem, output: readonly OutputItem[]): number {
  const isSame = (item: OutputItem) =>
    item.type === "function_call" && item["name"] === call["name"] && item["arguments"] === call["arguments"];
  const at = output.findIndex(({ id }) => id === call.id);
  return output.slice(0, at < 0 ? undefined : at).filter(isSame).length + 1;
}

/** Milliseconds between the first start and the last end: calls side by side count once. */
export function spanOf(calls: readonly CallFacts[]): number | undefined {
  const known = calls.filter(({ durationMs }) => durationMs !== undefined);
  if (known.length === 0) {
    return undefined;
  }
  const timed = known.filter(({ startedAt }) => startedAt !== undefined);
  if (timed.length < known.length) {
    return known.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
  }
  // Time between rounds, in which the model wrote, is no time of tools.
  const spans = timed
    .map(({ startedAt = 0, durationMs = 0 }) => [startedAt, startedAt + durationMs] as const)
    .toSorted(([a], [b]) => a - b);
  let [sum, until] = [0, Number.NEGATIVE_INFINITY];
  for (const [from, to] of spans) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}

const toBag = (value: unknown): Bag => (typeof value === "object" && value !== null ? (value as Bag) : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;
