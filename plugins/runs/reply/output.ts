import { firstChoice } from "#kernel/completion/accumulate.ts";
import type { Chunk, Delta, ToolCallDelta } from "#kernel/completion/chunk.ts";
import { CodeWriter } from "./code-writer.ts";
import {
  type CallItem,
  type CodeItem,
  makeItemId,
  type MessageItem,
  type OutputItem,
  type ReasoningItem,
  type TextPart,
} from "./items.ts";
import type { DeltaKind } from "./journal.ts";
import { type Piece, TagReader, type Tags } from "#kernel/completion/reasoning-tags.ts";

/** Told while a reply grows. */
export interface OutputObserver {
  /** Text was added to an item. */
  delta(item: OutputItem, kind: DeltaKind, text: string): void;
  /** What a provider wants back in later rounds was added to an item. */
  details(item: OutputItem, details: readonly unknown[]): void;
  /** An item is new, or complete. */
  border(item: OutputItem): void;
}

/** Builds the items of a reply out of the chunks of its rounds. Core API, Message, `output`; protocols C. */
export class Output {
  readonly items: OutputItem[];
  readonly #observer: OutputObserver;
  readonly #tags: readonly Tags[];
  readonly #now: () => number;
  #reader: TagReader;
  #open: MessageItem | ReasoningItem | undefined;
  /** The text that a reply which goes on ended with; more text is added to it. */
  #unfinished: MessageItem | undefined;
  #calls = new Map<number, CallItem>();
  #code: CodeWriter | undefined;
  #blank = "";
  #openedAt = 0;
  /** Why the model ended the round, as far as its upstream says. */
  finishReason: string | undefined;

  constructor(
    observer: OutputObserver,
    { tags, items = [], now = Date.now }: { tags: readonly Tags[]; items?: OutputItem[]; now?: () => number },
  ) {
    this.#observer = observer;
    this.#tags = tags;
    this.#now = now;
    this.#reader = new TagReader(tags);
    this.items = items;
    const last = items.at(-1);
    this.#unfinished = last?.type === "message" ? (last as MessageItem) : undefined;
  }

  /** Takes code that the model writes between tags as items of their own, from now on. */
  readCode(): void {
    this.#code = new CodeWriter({
      text: (text) => this.#append(this.#message(), text),
      begun: (item) => {
        this.#close();
        this.push(item);
      },
      grown: (item, text) => this.#observer.delta(item, "code", text),
      ended: (item) => this.#observer.border(item),
    });
  }

  /** True when the model has written code that is to run now. */
  get hasCode(): boolean {
    return this.#code?.isDone === true;
  }

  /** The code that the round ended with, once; undefined for none, and for code that was cut off. */
  takeCode(): CodeItem | undefined {
    return this.#code?.takeItem();
  }

  /** Takes in one chunk; only the first choice is written. */
  add(chunk: Chunk): void {
    const choice = firstChoice(chunk.choices);
    if (choice === undefined) {
      return;
    }
    this.finishReason = choice.finish_reason ?? this.finishReason;
    const { delta } = choice;
    if (delta) {
      this.#addReasoning(delta);
      this.#addText(delta);
      delta.tool_calls?.forEach((piece) => this.#addCall(piece));
    }
  }

  /** Completes what is open and resolves to the calls of the round, in order. */
  endRound(): CallItem[] {
    this.#endText();
    const calls = [...this.#calls.entries()].toSorted(([a], [b]) => a - b).map(([, call]) => call);
    this.#calls = new Map();
    const isCut = this.finishReason === "length";
    for (const call of calls) {
      call.status = isCut && call === calls.at(-1) ? "incomplete" : "completed";
      this.#observer.border(call);
    }
    return calls;
  }

  /** Adds an item that is complete. */
  push(item: OutputItem): void {
    this.items.push(item);
    this.#observer.border(item);
  }

  /** Shows and stores what changed in an item besides its text. */
  changed(item: OutputItem): void {
    this.#observer.border(item);
  }

  #addReasoning(delta: Delta): void {
    const text = delta.reasoning_content ?? delta.reasoning ?? "";
    const details = delta["reasoning_details"];
    if (text !== "") {
      this.#append(this.#reasoning(), text);
    }
    if (Array.isArray(details) && details.length > 0) {
      const item = this.#reasoning();
      (item.reasoning_details ??= []).push(...(details as unknown[]));
      this.#observer.details(item, details as unknown[]);
    }
  }

  #addText({ content, refusal }: Delta): void {
    if (typeof content === "string" && content !== "") {
      // Reasoning of a field of its own ends where text begins.
      if (this.#open?.type === "reasoning" && this.#open.start_tag === "") {
        this.#close();
      }
      this.#reader.push(content).forEach((piece) => this.#addPiece(piece));
    }
    if (typeof refusal === "string" && refusal !== "") {
      this.#append(this.#message(), refusal, "refusal");
    }
  }

  #addPiece({ kind, text, tags, closes }: Piece): void {
    if (kind === "text") {
      // White space alone starts no item: it may stand between what a model thinks and what it calls.
      const all = this.#blank + text;
      const isText = this.#open?.type === "message" || this.#code?.isOpen || all.trim() !== "";
      this.#blank = isText ? "" : all;
      if (isText && this.#code) {
        this.#code.add(all);
      } else if (isText) {
        this.#append(this.#message(), all);
      }
      return;
    }
    const item = this.#reasoning(tags);
    if (text !== "") {
      this.#append(item, text);
    }
    if (closes) {
      this.#close();
    }
  }

  #addCall({ index = 0, id, function: called }: ToolCallDelta): void {
    let call = this.#calls.get(index);
    if (call === undefined) {
      this.#endText();
      const callId = id || makeItemId("fc");
      call = {
        type: "function_call",
        id: callId,
        status: "in_progress",
        call_id: callId,
        name: called?.name ?? "",
        arguments: "",
      };
      this.#calls.set(index, call);
      this.push(call);
    }
    // Name and id come once; some upstreams repeat them on every piece.
    call.name ||= called?.name ?? "";
    const pieces: unknown = called?.arguments;
    const text = typeof pieces === "string" ? pieces : pieces ? JSON.stringify(pieces) : "";
    if (text !== "") {
      call.arguments += text;
      this.#observer.delta(call, "arguments", text);
    }
  }

  /** The text item has ended: what its reader held belongs to it, and the next text starts a new one. */
  #endText(): void {
    this.#reader.end().forEach((piece) => this.#addPiece(piece));
    this.#reader = new TagReader(this.#tags);
    this.#code?.endText(this.finishReason);
    this.#blank = "";
    this.#close();
  }

  #append(item: MessageItem | ReasoningItem, text: string, type: TextPart["type"] = "output_text"): void {
    const last = item.content.at(-1);
    if (type === "refusal") {
      if (last?.type === "refusal") {
        last.refusal += text;
      } else {
        (item.content as TextPart[]).push({ type, refusal: text });
      }
    } else if (last?.type === "output_text") {
      last.text += text;
    } else {
      (item.content as TextPart[]).push({ type, text });
    }
    this.#observer.delta(item, item.type === "reasoning" ? "reasoning" : "text", text);
  }

  #message(): MessageItem {
    if (this.#open?.type === "message") {
      return this.#open;
    }
    this.#close();
    return this.#takeUp() ?? this.#startMessage();
  }

  /** Only where nothing has come behind it. */
  #takeUp(): MessageItem | undefined {
    const item = this.#unfinished;
    this.#unfinished = undefined;
    if (item === undefined || item !== this.items.at(-1)) {
      return undefined;
    }
    item.status = "in_progress";
    this.#open = item;
    this.#observer.border(item);
    return item;
  }

  #startMessage(): MessageItem {
    const item: MessageItem = {
      type: "message",
      id: makeItemId("msg"),
      status: "in_progress",
      role: "assistant",
      content: [{ type: "output_text", text: "" }],
    };
    this.#open = item;
    this.push(item);
    return item;
  }

  #reasoning(tags?: Tags): ReasoningItem {
    if (this.#open?.type === "reasoning" && tags === undefined) {
      return this.#open;
    }
    this.#close();
    const item: ReasoningItem = {
      type: "reasoning",
      id: makeItemId("r"),
      status: "in_progress",
      start_tag: tags?.[0] ?? "",
      end_tag: tags?.[1] ?? "",
      attributes: { type: "reasoning_content" },
      content: [{ type: "output_text", text: "" }],
      summary: null,
      started_at: Math.floor(this.#now() / 1000),
    };
    this.#open = item;
    this.#openedAt = this.#now();
    this.push(item);
    return item;
  }

  #close(): void {
    const item = this.#open;
    if (item === undefined) {
      return;
    }
    this.#open = undefined;
    item.status = "completed";
    if (item.type === "reasoning") {
      item.ended_at = Math.floor(this.#now() / 1000);
      item.duration = Math.round((this.#now() - this.#openedAt) / 100) / 10;
    }
    this.#observer.border(item);
  }
}
