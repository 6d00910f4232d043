import type { z } from "zod";
import type { Method, Relay, Reply, Stream } from "#kernel/http/route.ts";
import type { Surface, surfaces } from "#kernel/http/surfaces.ts";
import { toProblems, toWords } from "./problems.ts";

// Runs in the browser as well: of the server it knows types only.

/** What the checker reads off one declared route. */
interface Described {
  readonly method: Method;
  readonly path: string;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly upload?: boolean | undefined;
  // The input is of no interest here, and only `any` takes every handler.
  // oxlint-disable-next-line typescript/no-explicit-any
  handle(input: any): unknown;
}

/**
 * The calls that a list of routes answers, keyed `"METHOD /base/path"`. Write
 * `export interface NotesApi extends ApiOf<ReturnType<typeof noteRoutes>, "/api/v1"> {}`.
 */
export type ApiOf<R extends readonly Described[], Base extends string = ""> = {
  // A route whose path is not known to the checker has no key.
  readonly [
    K in R[number] as string extends K["path"]
      ? never
      : `/${string}` extends K["path"]
        ? never
        : `${K["method"]} ${Base}${K["path"]}`
  ]: {
    readonly params: ParamsOf<K["path"]>;
    readonly query: InputOf<K["query"]>;
    readonly body: true extends K["upload"] ? FormData : InputOf<K["body"]>;
    readonly answer: AnswerOf<Awaited<ReturnType<K["handle"]>>>;
  };
};

/** The calls that a plugin's routes answer, of all its surfaces. */
export type ApiOfPlugin<P> = At<P, "main"> &
  At<P, "api"> &
  At<P, "runtime"> &
  At<P, "compat"> &
  At<P, "images"> &
  At<P, "audio"> &
  At<P, "retrieval">;

type At<P, S extends Surface> =
  RoutesOf<P> extends { readonly [K in S]: infer R extends readonly Described[] }
    ? ApiOf<R, (typeof surfaces)[S]["base"]>
    : unknown;

// oxlint-disable-next-line typescript/no-explicit-any
type RoutesOf<P> = P extends { setup(context: any): infer C }
  ? Awaited<C> extends { readonly routes: infer R }
    ? R
    : unknown
  : unknown;

/** `/files/:id/**:rest` → `{ id, rest }`. */
type ParamsOf<Path extends string> = [NameOf<Path>] extends [never]
  ? undefined
  : { readonly [K in NameOf<Path>]: string | number };

type NameOf<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | NameOf<More>
    : Rest
  : never;

type InputOf<S> = [Extract<S, z.ZodType>] extends [never] ? undefined : z.input<Extract<S, z.ZodType>>;

/** What arrives of a handler's answer: nanoseconds as numbers, nothing as null, and unknown where bytes are written. */
type AnswerOf<R> = R extends Reply | Stream | Relay ? unknown : WireOf<R>;

type WireOf<T> = T extends bigint
  ? number
  : T extends undefined
    ? null
    : T extends Uint8Array
      ? unknown
      : T extends object
        ? { [K in keyof T]: T[K] extends undefined ? undefined : WireOf<T[K]> }
        : T;

/** One entry of an `ApiOf`. */
interface Call {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly answer: unknown;
}

/** Only what a route takes has to be given. */
type Given<C extends Call> = {
  readonly [
    K in "params" | "query" | "body" as C[K] extends undefined
      ? never
      : undefined extends C[K]
        ? never
        : {} extends C[K]
          ? never
          : K
  ]: C[K];
} & {
  readonly [
    K in "params" | "query" | "body" as C[K] extends undefined ? never : {} extends C[K] ? K : never
  ]?: C[K];
} & { readonly headers?: Record<string, string>; readonly signal?: AbortSignal };

type Arguments<C extends Call> = {} extends Given<C> ? [given?: Given<C>] : [given: Given<C>];

export interface Client<Api> {
  /** Calls a route; resolves to its answer, rejects with ApiError for a status from 400 on. */
  call<K extends keyof Api & string>(
    key: K,
    ...given: Arguments<Api[K] & Call>
  ): Promise<(Api[K] & Call)["answer"]>;
  /** Reads what may not be there: null in place of a 404, which browsers report as an error of the page. */
  find<K extends keyof Api & `GET ${string}`>(
    key: K,
    ...given: Arguments<Api[K] & Call>
  ): Promise<(Api[K] & Call)["answer"] | null>;
  /** Calls a route for its raw response, whatever the status: streams and files. */
  open<K extends keyof Api & string>(key: K, ...given: Arguments<Api[K] & Call>): Promise<Response>;
}

/** A change that did not happen: the browser's cookie is another account's than the one the page was opened for. */
export class OtherAccountError extends Error {
  override readonly name = "OtherAccountError";
}

/** A status from 400 on, with the body in its surface's shape. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly body: unknown;
  /** Seconds after which the server says that a new try makes sense. */
  readonly retryAfter: number | undefined;

  constructor(status: number, body: unknown, retryAfter?: number) {
    super(textOf(body) ?? `The server answered ${status}.`);
    this.status = status;
    this.body = body;
    this.retryAfter = retryAfter;
  }
}

export interface ClientOptions {
  /** Origin of the server; empty for the page's own. */
  readonly url?: string;
  /** Asked at each call; a browser with the session cookie needs none. */
  token?(): string | undefined;
  /** Asked at each call. */
  headers?(): Readonly<Record<string, string>>;
  /** The words for a server that does not answer, in place of the browser's own. */
  unreachable?(): string;
  /** Told of each answer, before its body is read. */
  onAnswer?(response: Response): void;
  /** Told of each answer that asks for a sign-in. */
  onUnauthorized?(): void;
  /** Told of each change that was refused because another account is signed in by now. */
  onOtherAccount?(): void;
}

/** The header in which a page says for which account it was opened, and the server that it is another one now. */
export const accountHeader = "x-account";

interface Sent {
  readonly params?: Record<string, string | number>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Makes a client for the routes that `Api` names. */
export function createClient<Api>({
  url = "",
  token,
  headers: common,
  unreachable,
  onAnswer,
  onUnauthorized,
  onOtherAccount,
}: ClientOptions = {}): Client<Api> {
  async function open(key: string, given: Sent = {}): Promise<Response> {
    const [method = "GET", path = "/"] = key.split(" ", 2);
    const shown = token?.();
    const headers = new Headers({ ...common?.(), ...given.headers });
    if (shown !== undefined) {
      headers.set("authorization", `Bearer ${shown}`);
    }
    const isForm = given.body instanceof FormData;
    if (given.body !== undefined && !isForm) {
      headers.set("content-type", "application/json");
    }
    const body = isForm ? (given.body as FormData) : JSON.stringify(given.body);
    const response = await fetch(url + fillPath(path, given.params) + toQuery(given.query), {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(outlivesPage(body) ? { keepalive: true } : {}),
      ...(given.signal ? { signal: given.signal } : {}),
    }).catch((error: unknown) => {
      throw error instanceof TypeError && unreachable
        ? new TypeError(unreachable(), { cause: error })
        : error;
    });
    onAnswer?.(response);
    return response;
  }

  async function call(key: string, given?: Sent): Promise<unknown> {
    const response = await open(key, given);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    const body: unknown = text === "" ? null : isJson ? JSON.parse(text) : text;
    if (response.status === 401) {
      onUnauthorized?.();
    }
    if (response.status === 409 && response.headers.has(accountHeader)) {
      onOtherAccount?.();
      throw new OtherAccountError(textOf(body));
    }
    if (!response.ok) {
      const wait = Number(response.headers.get("retry-after") ?? Number.NaN);
      throw new ApiError(response.status, body, Number.isNaN(wait) ? undefined : wait);
    }
    return body;
  }

  const find = (key: string, given: Sent = {}) =>
    call(key, { ...given, headers: { ...given.headers, prefer: "absent=null" } });

  // The checked types describe the wire; behind them every call is the same.
  return { open, call, find } as unknown as Client<Api>;
}

/** What a page sends while it goes is dropped by the browser unless it is marked; only small bodies may be. */
function outlivesPage(body: unknown): boolean {
  const { document } = globalThis as { readonly document?: { readonly visibilityState?: string } };
  const isSmall = body === undefined || (typeof body === "string" && body.length < 20_000);
  return isSmall && (isGoing || document?.visibilityState === "hidden");
}

/** A page that goes counts as visible until it is told so. */
let isGoing = false;
const { addEventListener: listen } = globalThis as {
  readonly addEventListener?: (name: string, handle: () => void, isFirst: boolean) => void;
};
listen?.("pagehide", () => (isGoing = true), true);
listen?.("pageshow", () => (isGoing = false), true);

function fillPath(path: string, params: Record<string, string | number> = {}): string {
  return path.replaceAll(/(\*\*)?:(\w+)/g, (_match, rest: string | undefined, name: string) => {
    const value = String(params[name] ?? "");
    return rest ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);
  });
}

/** Lists become repeated names; what is not given is left out. */
function toQuery(query: Record<string, unknown> = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined && one !== null)
      .map((one): [string, string] => [name, String(one)]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

function textOf(body: unknown): string | undefined {
  const { detail, error } = (typeof body === "object" && body !== null ? body : {}) as {
    detail?: unknown;
    error?: unknown;
  };
  const found =
    (detail as { message?: unknown } | null | undefined)?.message ??
    detail ??
    (typeof error === "object" && error !== null ? (error as { message?: unknown }).message : error);
  return typeof found === "string" ? found : Array.isArray(found) ? toWords(toProblems(found)) : undefined;
}
