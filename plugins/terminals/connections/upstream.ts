import { z } from "zod";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { parseJson } from "#kernel/http/json.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import { toIdentityHeaders, type Caller } from "../proxy/identity.ts";
import { toUnreachable } from "../proxy/unreachable.ts";
import type { Terminal } from "./schema.ts";

export interface Question {
  readonly method?: string;
  readonly url: string | URL;
  readonly body?: unknown;
  readonly caller?: Caller | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** An answer read in full. */
export interface Answer {
  readonly status: number;
  readonly value: unknown;
}

const largest = 8 * 1024 * 1024;

/** Asks a terminal server something that it answers with JSON. Throws `unavailable` when it does not. */
export async function ask(egress: Egress, terminal: Terminal, question: Question): Promise<Answer> {
  const { method = "GET", body, caller, timeoutMs, signal } = question;
  const key = terminal.key === "" ? {} : { authorization: `Bearer ${terminal.key}` };
  const response = await egress
    .request(question.url, {
      trust: "operator",
      redirects: false,
      method,
      headers: {
        accept: "application/json",
        "accept-encoding": "identity",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(caller ? await toIdentityHeaders(terminal, caller) : key),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMs,
      signal,
    })
    .catch((error: unknown) => {
      throw toUnreachable(error);
    });
  const text = await readText(response.body, largest, signal).catch((error: unknown) => {
    throw toUnreachable(error);
  });
  return { status: response.status, value: toValue(text) };
}

/** The answer's value. Throws `unavailable` for a refusal, with the server's own words. */
export function requireGood({ status, value }: Answer, what: string): unknown {
  if (status === 401 || status === 403) {
    throw new AppError("unavailable", `The terminal server refused the key (status ${status}).`);
  }
  if (status >= 300) {
    throw new AppError("unavailable", `${what} answered with status ${status}${toWords(value)}.`);
  }
  return value;
}

const Detail = z.looseObject({ detail: z.string() });

function toWords(value: unknown): string {
  const said = Detail.safeParse(value).data?.detail.trim().slice(0, 300);
  return said ? `: ${said}` : "";
}

function toValue(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
