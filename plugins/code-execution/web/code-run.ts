type Bag = Readonly<Record<string, unknown>>;

/** Code of a reply as people read it (contract §3.5, `service:code_interpreter`). */
export interface CodeRunFacts {
  readonly lang: string;
  readonly code: string;
  readonly state: "writing" | "waiting" | "running" | "done" | "failed" | "unrun";
  readonly stdout: string;
  readonly stderr: string;
  readonly result: string;
  /** Undefined while it has not run. */
  readonly seconds: number | undefined;
}

/** Reads the item as it is stored or still written; replies of other programs may lack anything. */
export function readCodeRun(item: Bag, isWriting: boolean): CodeRunFacts {
  const attributes = toBag(item["attributes"]);
  // Other programs store a text, or nothing for code that printed nothing.
  const output = typeof item["output"] === "string" ? { stdout: item["output"] } : toBag(item["output"]);
  const duration = item["duration"];
  return {
    lang: toText(item["lang"]) || toText(attributes["lang"]) || "python",
    code: toText(item["code"]).trim(),
    state: toState(item, isWriting),
    stdout: toText(output["stdout"]),
    stderr: toText(output["stderr"]),
    result: toText(output["result"]),
    seconds: typeof duration === "number" && Number.isFinite(duration) ? duration : undefined,
  };
}

function toState(item: Bag, isWriting: boolean): CodeRunFacts["state"] {
  if (item["output"] !== undefined && item["output"] !== null) {
    return item["is_error"] === true ? "failed" : "done";
  }
  if (!isWriting || item["status"] === "incomplete") {
    return "unrun";
  }
  if (item["status"] === "pending") {
    return "waiting";
  }
  return item["status"] === "in_progress" ? "writing" : "running";
}

const toBag = (value: unknown): Bag => (typeof value === "object" && value !== null ? (value as Bag) : {});
const toText = (value: unknown): string => (typeof value === "string" ? value : "");
