import { Readable } from "node:stream";
import type { BodyRewriter, Upstream } from "#kernel/http/route.ts";
import { toUpstreamError } from "#kernel/upstream/failure.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import { NdjsonSplitter } from "./ndjson-splitter.ts";

const largestAnswer = 64 * 1024 * 1024;
const largestLine = 16 * 1024 * 1024;
const linesPerTurn = 64;

export interface RenameOptions {
  /** Put before the models of the answer with a dot. */
  readonly prefix: string;
  readonly signal: AbortSignal;
}

interface StreamOptions extends RenameOptions {
  /** Changes lines before they get the public id. */
  readonly rewriter: BodyRewriter | undefined;
  broken(error: unknown): string;
}

/** A whole JSON answer with the public id in its `model` field (contract D.14). */
export async function renameWhole(upstream: Upstream, { prefix, signal }: RenameOptions): Promise<Upstream> {
  const text = await readText(upstream.body, largestAnswer, signal);
  const { "content-length": _length, ...headers } = upstream.headers;
  return { status: upstream.status, headers, body: Readable.from([Buffer.from(rename(text, prefix))]) };
}

/**
 * A stream of JSON lines or events with the public id in their `model` fields, line by line as they come. A body that
 * breaks off ends with what `broken` says.
 */
export async function* renameLines(
  { body }: Upstream,
  { prefix, signal, broken, rewriter }: StreamOptions,
): AsyncGenerator<string> {
  const lines = new NdjsonSplitter({ hardLimit: largestLine });
  const toText = (line: string) =>
    renameAll(rewriter ? rewriter.push(Buffer.from(`${line}\n`)).toString() : `${line}\n`, prefix);
  try {
    for await (const piece of body as Readable & AsyncIterable<Buffer>) {
      lines.push(piece);
      yield* drain(lines, toText);
    }
    lines.end();
    yield* drain(lines, toText);
    yield renameAll(rewriter?.end().toString() ?? "", prefix);
  } catch (error) {
    const failure = toUpstreamError(error, signal);
    if (signal.aborted) {
      throw failure;
    }
    yield broken(failure);
  }
}

function* drain(lines: NdjsonSplitter, toText: (line: string) => string): Generator<string> {
  while (lines.hasMore) {
    let text = "";
    for (let count = 0; count < linesPerTurn && lines.hasMore; count++) {
      text += toText(lines.take() ?? "");
    }
    if (text !== "") {
      yield text;
    }
  }
}

/** Lines with their ends. */
function renameAll(text: string, prefix: string): string {
  return text
    .split(/(?<=\n)/)
    .map((line) => (line.endsWith("\n") ? `${renameLine(line.slice(0, -1), prefix)}\n` : line))
    .join("");
}

function renameLine(line: string, prefix: string): string {
  if (line.startsWith("{")) {
    return rename(line, prefix);
  }
  const [, field, data] = /^(data: ?)(\{.*)$/s.exec(line) ?? [];
  return data === undefined ? line : `${field}${rename(data, prefix)}`;
}

/** A text that is not JSON stays as it is. */
function rename(text: string, prefix: string): string {
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    const parts = [value, value?.["message"], value?.["response"]] as (
      | Record<string, unknown>
      | null
      | undefined
    )[];
    const named = parts.filter((part) => typeof part?.["model"] === "string") as Record<string, unknown>[];
    for (const part of named) {
      part["model"] = `${prefix}.${String(part["model"])}`;
    }
    return named.length === 0 ? text : JSON.stringify(value);
  } catch {
    return text;
  }
}
