import type { CallLabels } from "../call-labels.ts";

type Kind = "text" | "thinking" | "tool_use";

/** The type of a block's deltas, and the key of their text. */
const deltas: Readonly<Record<Kind, readonly [type: string, key: string]>> = {
  text: ["text_delta", "text"],
  thinking: ["thinking_delta", "thinking"],
  tool_use: ["input_json_delta", "partial_json"],
};

/** One block that is being streamed. */
interface Block {
  readonly kind: Kind;
  /** Id and name of a call. */
  id: string;
  name: string;
  /** The arguments of a call so far: complete ones end it. */
  arguments: string;
  /** Text that arrived and has not been written. */
  pending: string;
  signature: string;
  isClosed: boolean;
}

/** A piece of a call as chunks bring it. */
export interface CallPiece {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/**
 * Writes content blocks one after another, though upstreams interleave their pieces: indexes have no gaps, and blocks
 * never overlap. Pieces of a later block are queued until the open one is closed.
 */
export class Blocks {
  /** True once a call has been written. */
  hasCalls = false;

  #frames = "";
  #count = 0;
  #open: Block | undefined;
  readonly #queue: Block[] = [];
  readonly #calls = new Map<number, Block>();
  #lastCall: Block | undefined;
  readonly #labels: CallLabels;

  constructor(labels: CallLabels) {
    this.#labels = labels;
  }

  addText(piece: string): void {
    this.#append("text", piece);
  }

  addThinking(piece: string): void {
    this.#append("thinking", piece);
  }

  /** Signs the last thinking block. */
  addSignature(signature: string): void {
    const last = this.#queue.at(-1) ?? this.#open;
    if (last?.kind === "thinking") {
      last.signature = signature;
    }
  }

  addCall(piece: CallPiece): void {
    const block = this.#findCall(piece);
    if (block.isClosed) {
      return;
    }
    block.id ||= piece.id;
    block.name ||= piece.name;
    block.arguments += piece.text;
    block.pending += piece.text;
    this.#write();
  }

  /** The frames that can go out; the pieces of a block since the last flush are one delta. */
  flush(): string {
    if (this.#open !== undefined) {
      this.#flushBlock(this.#open);
    }
    const frames = this.#frames;
    this.#frames = "";
    return frames;
  }

  /** Writes and closes all queued blocks. */
  end(): void {
    this.#close();
    for (const block of this.#queue.splice(0)) {
      if (block.kind !== "tool_use" || block.name !== "") {
        this.#begin(block);
        this.#close();
      }
    }
  }

  #append(kind: Kind, piece: string): void {
    if (piece === "") {
      return;
    }
    const last = this.#queue.at(-1) ?? this.#open;
    const block = last?.kind === kind ? last : this.#add(kind);
    block.pending += piece;
    this.#write();
  }

  #add(kind: Kind): Block {
    const block = { kind, id: "", name: "", arguments: "", pending: "", signature: "", isClosed: false };
    this.#queue.push(block);
    // Checked once for every new block: a check for every piece would parse the arguments again and again.
    if (this.#open && isComplete(this.#open)) {
      this.#close();
    }
    return block;
  }

  /** The block of a call by its index; some upstreams give every call the same one, others continue a call under a wrong one. */
  #findCall({ index, id, name }: CallPiece): Block {
    const known = this.#calls.get(index);
    const isOther = known && known.id !== "" && id !== "" && id !== known.id && name !== "";
    if (known && !isOther) {
      return known;
    }
    if (known === undefined && this.#lastCall && id === "" && name === "") {
      return this.#lastCall;
    }
    const block = this.#add("tool_use");
    this.#calls.set(index, block);
    this.#lastCall = block;
    return block;
  }

  #write(): void {
    while (this.#open === undefined) {
      const [next] = this.#queue;
      // A call begins with its name.
      if (next === undefined || (next.kind === "tool_use" && next.name === "")) {
        return;
      }
      this.#queue.shift();
      this.#begin(next);
      if (this.#queue.length > 0 && isComplete(next)) {
        this.#close();
      }
    }
  }

  #begin(block: Block): void {
    this.#open = block;
    this.#frames += toFrame("content_block_start", {
      index: this.#count,
      content_block: this.#toStart(block),
    });
    this.hasCalls ||= block.kind === "tool_use";
  }

  #toStart({ kind, id, name }: Block): Record<string, unknown> {
    switch (kind) {
      case "text":
        return { type: "text", text: "" };
      case "thinking":
        return { type: "thinking", thinking: "", signature: "" };
      case "tool_use":
        return {
          type: "tool_use",
          id: this.#labels.toClientId(id),
          name: this.#labels.toClientName(name),
          input: {},
        };
    }
  }

  #flushBlock(block: Block): void {
    if (block.pending !== "") {
      this.#delta(deltas[block.kind], block.pending);
      block.pending = "";
    }
  }

  /** Writes a delta without `JSON.stringify` for the frame: nearly all events of a reply are deltas. */
  #delta([type, key]: readonly [type: string, key: string], value: string): void {
    this.#frames +=
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":' +
      `${this.#count},"delta":{"type":"${type}","${key}":${JSON.stringify(value)}}}\n\n`;
  }

  #close(): void {
    const block = this.#open;
    if (block === undefined) {
      return;
    }
    this.#flushBlock(block);
    if (block.signature !== "") {
      this.#delta(["signature_delta", "signature"], block.signature);
    }
    this.#frames += toFrame("content_block_stop", { index: this.#count });
    this.#count += 1;
    block.isClosed = true;
    this.#open = undefined;
  }
}

/** One event as the vendor's clients read it: its name twice. */
export function toFrame(type: string, data: Record<string, unknown> = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

/** Whether a block can get no more pieces: arguments are complete when they are one object. */
function isComplete({ kind, arguments: text }: Block): boolean {
  if (kind !== "tool_use") {
    return true;
  }
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
