import { newId, type OutputItem } from "./response.ts";

/** Emits one event: its type and its fields. */
export type EmitEvent = (type: string, fields: Record<string, unknown>) => void;

/** The kinds of parts of an item. */
export type PartKind = "output_text" | "refusal" | "reasoning_text";

/** The names of the events of each kind of part. */
const names: Readonly<Record<PartKind, string>> = {
  output_text: "response.output_text",
  refusal: "response.refusal",
  reasoning_text: "response.reasoning_text",
};

/** A message or reasoning item that is streamed in pieces; all of its events are out when it is closed. */
export class TextItem {
  readonly type: "message" | "reasoning";
  readonly item: OutputItem;
  readonly #index: number;
  readonly #emit: EmitEvent;
  readonly #parts: Record<string, unknown>[] = [];
  #kind: PartKind | undefined;
  #text = "";

  constructor(type: "message" | "reasoning", index: number, emit: EmitEvent) {
    this.type = type;
    this.#index = index;
    this.#emit = emit;
    this.item =
      type === "message"
        ? { id: newId("msg"), type, status: "in_progress", role: "assistant", content: this.#parts }
        : { id: newId("rs"), type, status: "in_progress", summary: [], content: this.#parts };
    emit("response.output_item.added", { output_index: index, item: this.item });
  }

  add(kind: PartKind, delta: string): void {
    if (this.#kind !== kind) {
      this.#closePart();
      this.#kind = kind;
      this.#emit("response.content_part.added", { ...this.#place(), part: toPart(kind, "") });
    }
    this.#text += delta;
    const logprobs = kind === "output_text" ? { logprobs: [] } : {};
    this.#emit(`${names[kind]}.delta`, { ...this.#place(), delta, ...logprobs });
  }

  close(status: "completed" | "incomplete"): void {
    this.#closePart();
    this.item.status = status;
    this.#emit("response.output_item.done", { output_index: this.#index, item: this.item });
  }

  #closePart(): void {
    const kind = this.#kind;
    if (kind === undefined) {
      return;
    }
    const part = toPart(kind, this.#text);
    const key = kind === "refusal" ? "refusal" : "text";
    const logprobs = kind === "output_text" ? { logprobs: [] } : {};
    this.#emit(`${names[kind]}.done`, { ...this.#place(), [key]: this.#text, ...logprobs });
    this.#emit("response.content_part.done", { ...this.#place(), part });
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
