import type { CallLabels } from "../call-labels.ts";

type Kind = "text" | "thinking" | "tool_use";

/** What a block's pieces are called, and the key that holds them. */
const deltas: Readonly<Record<Kind, readonly [type: string, key: string]>> = {
  text: ["text_delta", "text"],
  thinking: ["thinking_delta", "thinking"],
  tool_use: ["input_json_delta", "partial_json"],
};

/** One block of the reply on its way. */
interface Block {
  readonly kind: Kind;
  /** Id and name of a call. */
  id: string;
  name: string;
  /** All that came of a call's arguments: they tell whether more will come. */
  whole: string;
  /** What came and has not been written. */
  waiting: string;
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
 * Writes content blocks one after another, though upstreams interleave what belongs to them: indexes without gaps,
 * never two blocks at once. What belongs to a later block waits for the one that is open.
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

  text(piece: string): void {
    this.#append("text", piece);
  }

  thought(piece: string): void {
    this.#append("thinking", piece);
  }

  /** The signature of the thought that came last. */
  sign(signature: string): void {
    const last = this.#queue.at(-1) ?? this.#open;
    if (last?.kind === "thinking") {
      last.signature = signature;
    }
  }

  call(piece: CallPiece): void {
    const block = this.#findCall(piece);
    if (block.isClosed) {
      return;
    }
    block.id ||= piece.id;
    block.name ||= piece.name;
    block.whole += piece.text;
    block.waiting += piece.text;
    this.#write();
  }

  /** The frames that can go out; the pieces that came for a block since the last time go in one. */
  take(): string {
    if (this.#open !== undefined) {
      this.#flush(this.#open);
    }
    const frames = this.#frames;
    this.#frames = "";
    return frames;
  }

  /** Writes and closes all that is left. */
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
    block.waiting += piece;
    this.#write();
  }

  #add(kind: Kind): Block {
    const block = { kind, id: "", name: "", whole: "", waiting: "", signature: "", isClosed: false };
    this.#queue.push(block);
    // Asked once for every block that begins: asking for every piece would read the arguments again and again.
    if (this.#open && isComplete(this.#open)) {
      this.#close();
    }
    return block;
  }

  /** By index, but some upstreams give every call the same one, and others continue a call under a wrong one. */
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

  #flush(block: Block): void {
    if (block.waiting !== "") {
      this.#delta(deltas[block.kind], block.waiting);
      block.waiting = "";
    }
  }

  /** Written by hand: nearly all events of a reply are these. */
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
    this.#flush(block);
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

/** Whether nothing more can belong to a block: arguments are complete when they are one object. */
function isComplete({ kind, whole }: Block): boolean {
  if (kind !== "tool_use") {
    return true;
  }
  try {
    return typeof JSON.parse(whole) === "object";
  } catch {
    return false;
  }
}
