import { setTimeout as pause } from "node:timers/promises";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { maxTextLength } from "#plugins/files/service.ts";
import { DocumentProblem } from "../formats/problem.ts";
import { type Place, TextBuilder } from "../formats/text-builder.ts";
import type { ExtractedText } from "../service.ts";

/** A document as an engine gets it. */
export interface EngineDocument {
  readonly name: string;
  /** "application/octet-stream" where nobody said. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Reads documents on a server that an administrator set up. */
export interface Engine {
  /** For people, in messages. */
  readonly title: string;
  accepts(document: { readonly name: string; readonly type: string }): boolean;
  /** Rejects with an AppError: `unprocessable` blames the document, `unavailable` and `upstream` the engine. */
  extract(document: EngineDocument, signal: AbortSignal): Promise<ExtractedText>;
}

export interface EngineCall {
  readonly title: string;
  readonly url: string;
  readonly method: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | FormData | Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

const mostBytes = 64 * 1024 * 1024;

/** Sends one request to an engine. Its address comes from an administrator, so it may be private (contract D.15). */
export async function callEngine(egress: Pick<Egress, "fetch">, call: EngineCall): Promise<Response> {
  const { title, url, method, headers, body, signal } = call;
  if (url === "") {
    throw new AppError("unavailable", `The extraction engine ${title} has no address yet.`);
  }
  const response = await egress
    .fetch(url, {
      trust: "operator",
      method,
      headers: { accept: "application/json", ...headers },
      ...(body === undefined ? {} : { body }),
      signal,
      timeoutMs: null,
      maxBytes: mostBytes,
    })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      throw new AppError("unavailable", `The extraction engine ${title} cannot be reached.`, {
        cause: error,
      });
    });
  if (!response.ok) {
    await response.body?.cancel().catch(() => undefined);
    throw toRefusal(title, response.status);
  }
  return response;
}

/** Sends one request to an engine; resolves to its JSON. */
export async function askEngine(egress: Pick<Egress, "fetch">, call: EngineCall): Promise<unknown> {
  const { title } = call;
  const response = await callEngine(egress, call);
  const answer = await response.text().catch((error: unknown) => {
    throw new AppError("upstream", `The extraction engine ${title} broke off its answer.`, { cause: error });
  });
  try {
    return JSON.parse(answer) as unknown;
  } catch (cause) {
    throw new AppError("upstream", `The extraction engine ${title} answered something other than JSON.`, {
      cause,
    });
  }
}

export interface EnginePoll extends Pick<EngineCall, "title" | "headers" | "signal"> {
  /** The address that the engine gave for the result. */
  readonly url: string;
  /** The engine's own address: a key goes nowhere else. */
  readonly origin: string;
  /** True for an answer that is no more than a word of patience. */
  isPending(answer: Readonly<Record<string, unknown>>): boolean;
}

const [firstDelayMs, longestDelayMs] = [250, 5_000];

/** Asks for the result of work that an engine took on, until there is one. */
export async function pollEngine(
  egress: Pick<Egress, "fetch">,
  { isPending, origin, ...call }: EnginePoll,
): Promise<Readonly<Record<string, unknown>>> {
  if (URL.parse(call.url)?.origin !== URL.parse(origin)?.origin) {
    throw new AppError("forbidden", `The extraction engine ${call.title} named no result of its own.`);
  }
  for (let delay = firstDelayMs; ; delay = Math.min(longestDelayMs, delay * 2)) {
    const answer = await askEngine(egress, { ...call, method: "GET" });
    if (!isObject(answer)) {
      throw new AppError("upstream", `The extraction engine ${call.title} answered without a result.`);
    }
    if (!isPending(answer)) {
      return answer;
    }
    await pause(delay, undefined, { signal: call.signal });
  }
}

function toRefusal(title: string, status: number): AppError {
  if (status === 401 || status === 403) {
    return new AppError("unavailable", `The extraction engine ${title} refused the key.`);
  }
  // A busy server or one that failed may succeed at the next try; other refusals are about the document.
  return status >= 500 || status === 404 || status === 408 || status === 429
    ? new AppError("upstream", `The extraction engine ${title} failed (${status}).`)
    : new AppError(
        "unprocessable",
        `The extraction engine ${title} could not read the document (${status}).`,
      );
}

/** Text in parts with their places, as engines answer it. Throws DocumentProblem where there is none. */
export function toText(parts: readonly { readonly text: string; readonly place?: Place }[]): ExtractedText {
  const builder = new TextBuilder(maxTextLength);
  for (const { text, place } of parts) {
    builder.begin(place ?? {});
    builder.add(text.replaceAll("\u0000", "").toWellFormed());
  }
  const found = builder.finish();
  if (found.text === "") {
    throw new AppError("unprocessable", new DocumentProblem("No text found in this file.").message);
  }
  return found;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
