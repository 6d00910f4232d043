import type { Usage } from "#kernel/completion/chunk.ts";
import type { Measured, Wire } from "#kernel/completion/model-call.ts";
import { isUsage } from "#kernel/completion/tokens.ts";

/** Usage stands in the last frames; this much of the end always holds them. */
const tailBytes = 16 * 1024;

/** The vendor's message format tells its input at the very beginning. */
const headBytes = 2048;

/** Characters of the end that an estimate looks at. */
const sampleLength = 8 * 1024;

/** What an answer that calls tools has in it. */
const toolMarks: Readonly<Partial<Record<Wire, string>>> = {
  chat: '"tool_calls"',
  responses: '"function_call"',
  messages: '"tool_use"',
};
const noMark = "\0";

/** Where the texts of an answer stand, to be counted for want of usage. */
const textKeys: Readonly<Record<Wire, readonly string[]>> = {
  chat: ["content", "reasoning_content", "reasoning", "thinking", "arguments"],
  responses: ["delta"],
  messages: ["text", "thinking", "partial_json"],
  generate: ["response", "content", "thinking", "text"],
  embeddings: [],
};

/** Room for the tail and what comes before the next move; moving seldom costs less than moving tightly. */
const roomBytes = tailBytes + 8 * 1024;

/**
 * Remembers the ends of an answer that is passed on without being looked into; what they say is read once, at the end.
 * A piece is copied, not referred to: a stream's pieces that outlive their turn are what costs the garbage collector
 * most.
 */
export class UsageScanner {
  readonly #wire: Wire;
  #head = "";
  /** The first piece, until there is a second: most answers that are no streams come whole. */
  #only: Buffer | undefined;
  #room: Buffer | undefined;
  /** Bytes in `#room`. */
  #used = 0;
  #total = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  add(piece: Buffer): void {
    if (this.#wire === "messages" && this.#head.length < headBytes) {
      this.#head += piece.toString("latin1");
    }
    this.#total += piece.length;
    if (this.#total === piece.length) {
      this.#only = piece;
      return;
    }
    if (this.#room === undefined) {
      this.#room = Buffer.allocUnsafe(roomBytes);
      this.#copy(this.#room, this.#only as Buffer);
      this.#only = undefined;
    }
    this.#copy(this.#room, piece);
  }

  #copy(room: Buffer, piece: Buffer): void {
    if (piece.length >= tailBytes) {
      room.set(piece.subarray(-tailBytes));
      this.#used = tailBytes;
      return;
    }
    if (this.#used + piece.length > roomBytes) {
      const kept = tailBytes - piece.length;
      room.copyWithin(0, this.#used - kept, this.#used);
      this.#used = kept;
    }
    room.set(piece, this.#used);
    this.#used += piece.length;
  }

  get #tail(): Buffer {
    const bytes = this.#only ?? (this.#room ?? Buffer.alloc(0)).subarray(0, this.#used);
    return bytes.subarray(-tailBytes);
  }

  /** What the answer cost, and how it ended as far as its last frames tell. */
  finish(): Measured & { readonly end: "done" | "failed" | "open" } {
    const bytes = this.#tail;
    const text = bytes.toString("utf8");
    const usage = this.#wire === "messages" ? this.#bothEnds(text) : findUsage(text);
    return {
      usage,
      characters: usage ? 0 : this.#estimate(text, bytes.length),
      tools: text.includes(toolMarks[this.#wire] ?? noMark) ? findTools(text, this.#wire) : [],
      end: toEnd(text.slice(-1024)),
    };
  }

  #bothEnds(tail: string): Usage | undefined {
    const begun = findFirstUsage(this.#head.slice(0, headBytes));
    const closed = findUsage(tail);
    if (begun === undefined || closed === undefined) {
      return begun ?? closed;
    }
    // What the end says counts; null keeps what the beginning said.
    const told = Object.entries(closed).filter(([, value]) => value !== null);
    return { ...begun, ...Object.fromEntries(told) };
  }

  /** Of a long answer the part that was kept stands for all of it. */
  #estimate(tail: string, tailLength: number): number {
    if (this.#wire === "responses" && !isCutStream(tail)) {
      const whole = findWhole(tail);
      return whole === undefined
        ? tailLength
        : lengthOfValues(whole, '"text":') + lengthOfValues(whole, '"arguments":');
    }
    const text = tail.slice(-sampleLength);
    const bytes = text.length === tail.length ? tailLength : Buffer.byteLength(text);
    if (bytes === 0) {
      return 0;
    }
    let characters = 0;
    for (const key of textKeys[this.#wire]) {
      characters += lengthOfValues(text, `"${key}":`);
    }
    return Math.round((characters * this.#total) / bytes);
  }
}

/** The last event of the Responses format says the whole answer once more; one without events says nothing else. */
const lastOfResponses = /"type":\s*"response\.(?:completed|incomplete|failed)"|^\s*\{/;

/** True for what ends before its last event; an end that lies within that event has no events of its own. */
function isCutStream(text: string): boolean {
  return findWhole(text) === undefined && /"delta":|output_item\.added"/.test(text);
}

function findWhole(text: string): string | undefined {
  const at = text.search(lastOfResponses);
  return at < 0 ? undefined : text.slice(at);
}

/** The first usage block of a text: a short answer is head and tail at once, and its last block says less. */
function findFirstUsage(text: string): Usage | undefined {
  const at = text.indexOf('"usage"');
  const usage = at < 0 ? undefined : readObject(text, at + 7);
  return isUsage(usage) ? usage : undefined;
}

/** Characters of the strings that stand behind a key; searched, for a pattern would cost ten times as much. */
function lengthOfValues(text: string, key: string): number {
  let length = 0;
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1)) {
    let start = at + key.length;
    start += text[start] === " " ? 1 : 0;
    if (text[start] !== '"') {
      continue;
    }
    let end = text.indexOf('"', start + 1);
    while (end > 0 && isEscaped(text, end)) {
      end = text.indexOf('"', end + 1);
    }
    if (end < 0) {
      break;
    }
    length += end - start - 1;
    at = end;
  }
  return length;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") {
    slashes += 1;
  }
  return slashes % 2 === 1;
}

/** The last usage block of a text; quotes inside of strings are escaped, so they cannot be taken for one. */
function findUsage(text: string): Usage | undefined {
  for (
    let at = text.lastIndexOf('"usage"');
    at >= 0;
    at = at === 0 ? -1 : text.lastIndexOf('"usage"', at - 1)
  ) {
    const usage = readObject(text, at + 7);
    if (isUsage(usage)) {
      return usage;
    }
  }
  const counted = text.lastIndexOf('"prompt_eval_count"');
  const evaluated = /"eval_count"\s*:\s*(\d+)/.exec(counted < 0 ? "" : text.slice(counted));
  const prompt = /^"prompt_eval_count"\s*:\s*(\d+)/.exec(counted < 0 ? "" : text.slice(counted));
  return prompt
    ? { prompt_eval_count: Number(prompt[1]), eval_count: Number(evaluated?.[1] ?? 0) }
    : undefined;
}

/** The object that is the value of the key ending at `at`. */
function readObject(text: string, at: number): unknown {
  const open = /^\s*:\s*\{/.exec(text.slice(at, at + 16));
  if (open === null) {
    return undefined;
  }
  const start = at + open[0].length - 1;
  let depth = 0;
  for (let end = start; end < text.length && end - start < 4096; end++) {
    const sign = text[end];
    depth += sign === "{" ? 1 : sign === "}" ? -1 : 0;
    if (depth === 0) {
      try {
        return JSON.parse(text.slice(start, end + 1));
      } catch {
        return undefined;
      }
    }
  }
  return undefined;
}

/** The names of a whole answer's calls, which stand behind their type, or ahead of it as some servers write them. */
function findCalls(whole: string): string[] {
  const parts = whole.split('"type":');
  const calls = parts.flatMap((part, at) => (/^\s*"function_call"/.test(part) ? [at] : []));
  const namesIn = (part = "") =>
    Array.from(part.matchAll(/"name":\s*"([^"\\]+)"/g), ([, name]) => name as string);
  const behind = calls.flatMap((at) => namesIn(parts[at]).slice(0, 1));
  return behind.length > 0 ? behind : calls.flatMap((at) => namesIn(parts[at - 1]).slice(-1));
}

/** Tools are named once a call, in the frame that begins it. */
function findTools(text: string, wire: Wire): string[] {
  if (wire === "responses" && !isCutStream(text)) {
    return findCalls(findWhole(text) ?? text);
  }
  const names: string[] = [];
  const begins =
    /"tool_calls":\s*\[[^\]]*?"name":\s*"([^"\\]+)"|output_item\.added"[^\n]*?"function_call"[^\n]*?"name":\s*"([^"\\]+)"|"type":\s*"tool_use"[^\n]*?"name":\s*"([^"\\]+)"/g;
  for (const [, chat, responses, messages] of text.matchAll(begins)) {
    names.push((chat ?? responses ?? messages) as string);
  }
  return names;
}

function toEnd(text: string): "done" | "failed" | "open" {
  if (/^(?:data:\s*)?\{\s*"error"\s*:\s*[^nf]|^event:\s*error|"type":\s*"response\.failed"/m.test(text)) {
    return "failed";
  }
  return /^data:\s*\[DONE\]|"finish_reason":\s*"|"response\.(?:completed|incomplete)"|"message_stop"|"done":\s*true/m.test(
    text,
  )
    ? "done"
    : "open";
}
