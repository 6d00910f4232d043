import type { Chunk, Delta, ToolCallDelta, Usage } from "#kernel/completion/chunk.ts";
import { type Piece, TagReader, type Tags } from "#kernel/completion/reasoning-tags.ts";
import { toErrorFrame } from "#kernel/http/errors.ts";
import { CallItem, type StreamedCall } from "./call-item.ts";
import { CustomCallItem } from "./custom-call-item.ts";
import { type CallerTool, toCallerTools } from "./caller-tools.ts";
import { type OutputItem, type Response, toBegun, toResponseUsage } from "./response.ts";
import type { TranslatedRequest } from "./schema.ts";
import { type PartKind, TextItem } from "./text-item.ts";

/**
 * Turns the chunks of a chat completion into the events of a response, and into the response itself. Protocol cases
 * O62 and O63: items and parts are announced before their pieces, `sequence_number` counts from 0 without a gap.
 */
export class ResponseWriter {
  #response: Response;
  readonly #output: OutputItem[] = [];
  #frames = "";
  #sequence = 0;
  /** The message or reasoning item that is being written. */
  #text: TextItem | undefined;
  /** Calls by their position in the chunks. */
  readonly #calls = new Map<number, StreamedCall>();
  readonly #open: StreamedCall[] = [];
  readonly #tags: TagReader;
  /** The caller's tools by the names that models see. */
  readonly #tools: ReadonlyMap<string | undefined, CallerTool>;
  #usage: Usage | undefined;
  #finish: string | undefined;

  /** `tags` open and close reasoning in the model's texts. */
  constructor(request: TranslatedRequest, tags: readonly Tags[]) {
    this.#tags = new TagReader(tags);
    this.#response = toBegun(request);
    this.#tools = new Map(toCallerTools(request).map((own) => [own.tool.name, own]));
  }

  get response(): Response {
    return this.#response;
  }

  /** The events since the last flush. */
  flush(): string {
    const frames = this.#frames;
    this.#frames = "";
    return frames;
  }

  begin(): void {
    this.#emit("response.created", { response: this.#response });
    this.#emit("response.in_progress", { response: this.#response });
  }

  add(chunk: Chunk): void {
    this.#usage = chunk.usage ?? this.#usage;
    const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    if (choice === undefined) {
      return;
    }
    this.#finish = choice.finish_reason ?? this.#finish;
    if (choice.delta) {
      this.#addDelta(choice.delta);
    }
  }

  /** Ends the answer: complete, or cut by a limit. */
  end(): void {
    const reason = { length: "max_output_tokens", content_filter: "content_filter" }[this.#finish ?? ""];
    const status = reason === undefined ? "completed" : "incomplete";
    this.#closeAll(status);
    this.#finishWith(status, { incomplete_details: reason === undefined ? null : { reason } });
  }

  /** Ends an answer that broke off; its items stay. */
  fail(error: unknown, requestId: string): void {
    this.#closeAll("incomplete");
    this.#finishWith("failed", { error: toResponseError(error, requestId) });
  }

  #addDelta(delta: Delta): void {
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (thought) {
      this.#addPieces(this.#tags.end());
      this.#addText("reasoning", "reasoning_text", thought);
    }
    if (delta.content) {
      this.#addPieces(this.#tags.push(delta.content));
    }
    if (delta.refusal) {
      this.#addPieces(this.#tags.end());
      this.#addText("message", "refusal", delta.refusal);
    }
    delta.tool_calls?.forEach((piece) => this.#addCall(piece));
  }

  /** Reasoning in tags is an item of its own. Contract D.36. */
  #addPieces(pieces: readonly Piece[]): void {
    for (const { kind, text } of pieces) {
      if (text !== "") {
        this.#addText(
          kind === "text" ? "message" : "reasoning",
          kind === "text" ? "output_text" : "reasoning_text",
          text,
        );
      }
    }
  }

  #addText(type: TextItem["type"], kind: PartKind, text: string): void {
    if (this.#text?.type !== type) {
      this.#closeText("completed");
      this.#text = new TextItem(type, this.#output.length, this.#emit);
      this.#output.push(this.#text.item);
    }
    this.#text.add(kind, text);
  }

  #addCall({ index = 0, id, function: called }: ToolCallDelta): void {
    this.#addPieces(this.#tags.end());
    // Some upstreams continue a call under a wrong position.
    let call = this.#calls.get(index) ?? (id || called?.name ? undefined : this.#open.at(-1));
    // Some upstreams give every call the same position.
    const isOther = id && called?.name && call && call.item["call_id"] !== id;
    if (call === undefined || isOther) {
      this.#closeText("completed");
      const own = this.#tools.get(called?.name);
      const Item = own?.tool.type === "custom" ? CustomCallItem : CallItem;
      const name = own?.name ?? called?.name ?? "";
      call = new Item({ id, name, namespace: own?.namespace }, this.#output.length, this.#emit);
      this.#output.push(call.item);
      this.#calls.set(index, call);
      this.#open.push(call);
    }
    if (called?.arguments) {
      call.add(called.arguments);
    }
  }

  /** Gives `status` to the item that was being written; the items before it are complete. */
  #closeAll(status: "completed" | "incomplete"): void {
    this.#addPieces(this.#tags.end());
    const last = this.#text ? undefined : this.#open.at(-1);
    this.#closeText(status);
    this.#open.forEach((call) => call.close(call === last ? status : "completed"));
  }

  #closeText(status: "completed" | "incomplete"): void {
    this.#text?.close(status);
    this.#text = undefined;
  }

  #finishWith(status: "completed" | "incomplete" | "failed", fields: Record<string, unknown>): void {
    const usage = toResponseUsage(this.#usage);
    this.#response = { ...this.#response, status, output: this.#output, usage, ...fields };
    this.#emit(`response.${status}`, { response: this.#response });
  }

  readonly #emit = (type: string, fields: Record<string, unknown>): void => {
    const event = JSON.stringify({ type, sequence_number: this.#sequence++, ...fields });
    this.#frames += `event: ${type}\ndata: ${event}\n\n`;
  };
}

/** A failure as callers may see it, in the words of this format. */
function toResponseError(error: unknown, requestId: string): { code: string; message: string } {
  const frame = JSON.parse(toErrorFrame(error, requestId)) as {
    error?: { message?: unknown; code?: unknown; type?: unknown } | string;
  };
  const problem = typeof frame.error === "string" ? { message: frame.error } : frame.error;
  const message = typeof problem?.message === "string" ? problem.message : "The provider's answer failed.";
  const isLimit = [problem?.code, problem?.type].some((each) => /rate_limit|^429$/.test(String(each)));
  return { code: isLimit ? "rate_limit_exceeded" : "server_error", message };
}
