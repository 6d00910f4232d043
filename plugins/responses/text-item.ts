import { newId, type OutputItem } from "./response.ts";

/** Tells one event: its name and its fields. */
export type Tell = (type: string, fields: Record<string, unknown>) => void;

/** What a part of an item holds. */
export type PartKind = "output_text" | "refusal" | "reasoning_text";

/** What the events of each kind of part are called. */
const names: Readonly<Record<PartKind, string>> = {
  output_text: "response.output_text",
  refusal: "response.refusal",
  reasoning_text: "response.reasoning_text",
};

/** A message or a thought that grows piece by piece. Every event of it has been told when it is closed. */
export class TextItem {
  readonly type: "message" | "reasoning";
  readonly item: OutputItem;
  readonly #index: number;
  readonly #tell: Tell;
  readonly #parts: Record<string, unknown>[] = [];
  #kind: PartKind | undefined;
  #text = "";

  constructor(type: "message" | "reasoning", index: number, tell: Tell) {
    this.type = type;
    this.#index = index;
    this.#tell = tell;
    this.item =
      type === "message"
        ? { id: newId("msg"), type, status: "in_progress", role: "assistant", content: this.#parts }
        : { id: newId("rs"), type, status: "in_progress", summary: [], content: this.#parts };
    tell("response.output_item.added", { output_index: index, item: this.item });
  }

  add(kind: PartKind, delta: string): void {
    if (this.#kind !== kind) {
      this.#closePart();
      this.#kind = kind;
      this.#tell("response.content_part.added", { ...this.#place(), part: toPart(kind, "") });
    }
    this.#text += delta;
    const logprobs = kind === "output_text" ? { logprobs: [] } : {};
    this.#tell(`${names[kind]}.delta`, { ...this.#place(), delta, ...logprobs });
  }

  close(status: "completed" | "incomplete"): void {
    this.#closePart();
    this.item.status = status;
    this.#tell("response.output_item.done", { output_index: this.#index, item: this.item });
  }

  #closePart(): void {
    const kind = this.#kind;
    if (kind === undefined) {
      return;
    }
    const part = toPart(kind, this.#text);
    const key = kind === "refusal" ? "refusal" : "text";
    const logprobs = kind === "output_text" ? { logprobs: [] } : {};
    this.#tell(`${names[kind]}.done`, { ...this.#place(), [key]: this.#text, ...logprobs });
    this.#tell("response.content_part.done", { ...this.#place(), part });
    this.#parts.push(part);
    this.#kind = undefined;
    this.#text = "";
  }

  #place() {
    return { item_id: this.item.id, output_index: this.#index, content_index: this.#parts.length };
  }
}

function toPart(kind: PartKind, text: string): Record<string, unknown> {
  switch (kind) {
    case "refusal":
      return { type: kind, refusal: text };
    case "reasoning_text":
      return { type: kind, text };
    case "output_text":
      return { type: kind, text, annotations: [], logprobs: [] };
  }
}
