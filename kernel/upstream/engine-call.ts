import type { Egress, FetchBody } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";

/** One request to an engine that an administrator set up. */
export interface EngineCall {
  /** The engine's name, for people. */
  readonly title: string;
  readonly url: string | URL;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  /** A plain object is sent as JSON. */
  readonly body?: FetchBody;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** `user` for addresses that the engine named itself; its own may be private (contract D.15). */
  readonly trust?: "operator" | "user";
  /** Bytes of the answer; 96 MB when left out, ten pictures of a few megabytes as base64. */
  readonly maxBytes?: number;
}

type Fetch = Pick<Egress, "fetch">;

/** An engine's server with what it asks for. */
export interface EngineServer {
  readonly url: string;
  readonly key: string;
}

/** A server without an address of its own stands for another one, with that one's key. */
export function toServer(own: EngineServer, other?: EngineServer): EngineServer {
  const { url, key } = other !== undefined && own.url === "" ? other : own;
  return { url: url.replace(/(?<!\/)\/+$/, ""), key };
}

/** The header that carries a key; none without one. */
export function toBearer(key: string): Record<string, string> {
  return key === "" ? {} : { authorization: `Bearer ${key}` };
}

/** The objects in a list of an answer; none for anything else. */
export function toObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((each): each is Record<string, unknown> => typeof each === "object" && each !== null)
    : [];
}

const mostBytes = 96 * 1024 * 1024;
/** Characters of an engine's own words that are passed on. */
const mostWords = 400;

/** The bytes that an engine answers. Failures are AppErrors whose sentence names the engine, never a key. */
export async function askForBytes(egress: Fetch, call: EngineCall): Promise<Buffer> {
  const response = await openAnswer(egress, call);
  return Buffer.from(await response.arrayBuffer().catch((error: unknown) => raiseNamed(call.title, error)));
}

/** The JSON that an engine answers. */
export async function askForJson(egress: Fetch, call: EngineCall): Promise<Record<string, unknown>> {
  const response = await openAnswer(egress, call);
  const answer = await response.text().catch((error: unknown) => raiseNamed(call.title, error));
  const parsed = tryParse(answer);
  if (typeof parsed !== "object" || parsed === null) {
    throw new AppError(
      "upstream",
      `${call.title} answered with something other than JSON. Is its address right?`,
    );
  }
  return parsed as Record<string, unknown>;
}

/** The answer of an engine with a good status, before its body is read. Read the body or cancel it. */
export async function openAnswer(egress: Fetch, call: EngineCall): Promise<Response> {
  const { title, url, method = "GET", headers = {}, body, timeoutMs, signal, trust = "operator" } = call;
  const maxBytes = call.maxBytes ?? mostBytes;
  const response = await egress
    .fetch(url, { trust, method, headers, ...(body && { body }), timeoutMs, signal, maxBytes })
    .catch((error: unknown) => raiseNamed(title, error));
  if (!response.ok) {
    const words = await response.text().catch(() => "");
    throw toRefusal(title, response, findWords(words));
  }
  return response;
}

function toRefusal(title: string, { status, headers }: Response, words: string): AppError {
  const said = words === "" ? "" : ` It says: ${words}`;
  if (status === 401 || status === 403) {
    return new AppError("upstream", `${title} refused the request (${status}). Is its key right?`);
  }
  if (status === 429) {
    const wait = Number(headers.get("retry-after"));
    const retryAfter = Number.isFinite(wait) && wait > 0 ? Math.ceil(wait) : undefined;
    const when = retryAfter === undefined ? "" : ` It says to wait ${retryAfter} s.`;
    return new AppError("rate_limited", `${title} was asked too often.${when}`, {
      ...(retryAfter !== undefined && { retryAfter }),
    });
  }
  return status === 400 || status === 422
    ? new AppError("invalid", `${title} refused the request.${said}`)
    : new AppError("upstream", `${title} answered with status ${status}.${said}`);
}

/** The engine's own sentence in an error answer, as the common ones write it; pages of HTML have none. */
function findWords(answer: string): string {
  const { error, detail, message, err_msg: short } = (tryParse(answer) ?? {}) as Record<string, unknown>;
  const [inError, inDetail] = [error, detail].map((each) => (each as { message?: unknown } | null)?.message);
  const words =
    [inError, error, inDetail, detail, message, short].find((each) => typeof each === "string") ?? "";
  return String(words).replaceAll(/\s+/g, " ").slice(0, mostWords);
}

function tryParse(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return undefined;
  }
}

/** A failure of the connection in words that name the engine; the caller's own abort stays as it is. */
export function raiseNamed(title: string, error: unknown): never {
  throw error instanceof AppError
    ? new AppError(error.code, `${title}: ${error.message}`, { cause: error })
    : error;
}
