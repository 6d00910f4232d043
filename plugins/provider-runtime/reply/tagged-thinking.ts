import { Readable } from "node:stream";
import { asObject, type JsonObject, parseOrUndefined, toObject } from "#config/json-values.ts";
import { type Piece, TagReader, type Tags } from "#kernel/completion/reasoning-tags.ts";
import type { BodyRewriter, Upstream } from "#kernel/http/route.ts";
import { readText } from "#kernel/upstream/read-text.ts";

/** The routes whose answers have a place for thoughts: in `message`, or beside `response`. */
export type ThinkingRoute = "chat" | "generate";

type Line = JsonObject;

const largestAnswer = 64 * 1024 * 1024;
const nothing = Buffer.alloc(0);

/**
 * Moves reasoning in tags at the start of a streamed answer to `thinking` (contract D.36). Takes whole lines; all but
 * those with the tags and the reasoning go on as they came.
 */
export class ThinkingLines implements BodyRewriter {
  readonly #route: ThinkingRoute;
  readonly #reader: TagReader;
  /** Lines that may hold the beginning of a tag. */
  #buffer: string[] = [];
  #isInTags = false;
  #isSettled = false;

  constructor(route: ThinkingRoute, tags: readonly Tags[]) {
    this.#route = route;
    this.#reader = new TagReader(tags);
    this.#isSettled = tags.length === 0;
  }

  push(bytes: Buffer): Buffer {
    if (this.#isSettled || bytes.length === 0) {
      return bytes;
    }
    const lines = bytes.toString("utf8").split(/(?<=\n)/);
    return Buffer.from(lines.map((line) => (this.#isSettled ? line : this.#add(line))).join(""));
  }

  end(): Buffer {
    return this.#buffer.length === 0 ? nothing : Buffer.from(this.#flush());
  }

  #add(text: string): string {
    const line = asObject(parseOrUndefined(text));
    const said = line ? textOf(line, this.#route) : "";
    const pieces = said === "" ? [] : this.#reader.push(said);
    if (line?.["done"] === true) {
      pieces.push(...this.#reader.end());
    }
    this.#isSettled = pieces.some(({ kind }) => kind === "text") || line?.["done"] === true;
    if (line && (this.#isInTags || pieces.some(({ kind }) => kind === "reasoning"))) {
      this.#isInTags = true;
      // The lines that waited held nothing but the tag's beginning.
      this.#buffer = [];
      return splitLine(line, this.#route, pieces)
        .map((each) => `${JSON.stringify(each)}\n`)
        .join("");
    }
    this.#buffer.push(text);
    const mayBeginTag = !this.#isSettled && (said !== "" || this.#buffer.length > 1);
    return mayBeginTag ? "" : this.#flush();
  }

  #flush(): string {
    const lines = this.#buffer.join("");
    this.#buffer = [];
    return lines;
  }
}

/** A whole answer, with reasoning in tags at its start as `thinking`; the same bytes where there is none. */
export async function withThinking(
  upstream: Upstream,
  { route, tags, signal }: { route: ThinkingRoute; tags: readonly Tags[]; signal: AbortSignal },
): Promise<Upstream> {
  const text = await readText(upstream.body, largestAnswer, signal);
  const { "content-length": _length, ...headers } = upstream.headers;
  const body = Readable.from([Buffer.from(rewriteWhole(text, route, tags))]);
  return { status: upstream.status, headers, body };
}

function rewriteWhole(text: string, route: ThinkingRoute, tags: readonly Tags[]): string {
  const answer = asObject(parseOrUndefined(text));
  const reader = new TagReader(tags);
  const pieces = answer ? [...reader.push(textOf(answer, route)), ...reader.end()] : [];
  if (answer === undefined || pieces.every(({ kind }) => kind === "text")) {
    return text;
  }
  const thinking = join(pieces, "reasoning");
  const rest = withText(answer, route, join(pieces, "text"));
  return JSON.stringify(
    route === "chat"
      ? { ...rest, message: { ...toObject(rest["message"]), thinking } }
      : { ...rest, thinking },
  );
}

/** A line for the thoughts, then the line itself with the text, unless it holds nothing else. */
function splitLine(line: Line, route: ThinkingRoute, pieces: readonly Piece[]): Line[] {
  const thinking = join(pieces, "reasoning");
  const text = join(pieces, "text");
  const { tool_calls: calls, thinking: own } = toObject(route === "chat" ? line["message"] : line);
  const holdsMore = text !== "" || line["done"] === true || calls !== undefined || own !== undefined;
  return [
    ...(thinking === "" ? [] : [toThinkingLine(line, route, thinking)]),
    ...(holdsMore ? [withText(line, route, text)] : []),
  ];
}

function toThinkingLine(line: Line, route: ThinkingRoute, thinking: string): Line {
  const head = Object.fromEntries(
    ["model", "created_at"].filter((key) => key in line).map((key) => [key, line[key]]),
  );
  return route === "chat"
    ? { ...head, message: { role: "assistant", content: "", thinking }, done: false }
    : { ...head, response: "", thinking, done: false };
}

function withText(line: Line, route: ThinkingRoute, text: string): Line {
  return route === "chat"
    ? { ...line, message: { ...toObject(line["message"]), content: text } }
    : { ...line, response: text };
}

function textOf(line: Line, route: ThinkingRoute): string {
  const text = route === "chat" ? toObject(line["message"])["content"] : line["response"];
  return typeof text === "string" ? text : "";
}

function join(pieces: readonly Piece[], kind: Piece["kind"]): string {
  return pieces.map((piece) => (piece.kind === kind ? piece.text : "")).join("");
}
