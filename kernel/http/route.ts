import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import type { ErrorShape } from "./surfaces.ts";
import type { Upload } from "./upload.ts";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Who may call a route:
 * - `public`: anybody; a valid credential is resolved when there is one, a bad one is ignored.
 * - `account`: any signed-in account, pending ones included.
 * - `user`: accounts with the role user or admin.
 * - `admin`: accounts with the role admin.
 * - `permission:…`: members that hold the permission; admins always do.
 * - `token`: holders of a credential that is no account's. The handler checks it before all else and answers 401.
 */
export type RouteAccess = "public" | "token" | "account" | "user" | "admin" | `permission:${string}`;

/** The request as a handler sees it, besides what was declared and validated. */
export interface RequestInfo {
  readonly id: string;
  readonly method: string;
  /** Path and query as the client sent them. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The client's address after FORWARDED_ALLOW_IPS. */
  readonly address: string;
  /** `https` or `http` as the client sees it. */
  readonly protocol: string;
  /** The host that the client asked for, as a proxy of FORWARDED_ALLOW_IPS tells it. */
  readonly host: string | undefined;
  /** Sent by a proxy of FORWARDED_ALLOW_IPS, whose word about the caller counts. */
  readonly isProxied: boolean;
  /** Aborted as soon as the client is gone before the answer is complete. */
  readonly signal: AbortSignal;
}

type Shape = z.ZodType | undefined;
type Out<S extends Shape> = S extends z.ZodType ? z.output<S> : undefined;

export interface RouteDeclaration<
  P extends Shape,
  Q extends Shape,
  B extends Shape,
  A extends RouteAccess,
  U extends boolean,
  M extends Method = Method,
  L extends `/${string}` = `/${string}`,
> {
  readonly method: M;
  /** Below the surface's base, with `:name` for a segment and a last `**:name` for the rest of the path. */
  readonly path: L;
  readonly summary: string;
  readonly access: A;
  readonly params?: P;
  readonly query?: Q;
  /** Shape of a JSON body; `z.looseObject` where unknown keys are passed on. */
  readonly body?: B;
  /** The body may be left out altogether; `body` is then undefined. */
  readonly bodyOptional?: boolean;
  /** A multipart upload instead of a JSON body: the handler reads `upload`. */
  readonly upload?: U;
  /** The handler reads the raw body itself as `raw`. */
  readonly rawBody?: boolean;
  /** Shape of the answer; checked in tests and, as a warning, in dev. */
  readonly returns?: z.ZodType;
  /** Statuses, besides the common ones, that the docs name. */
  readonly fails?: readonly number[];
  /** Overrides the surface's error shape. */
  readonly errors?: ErrorShape;
  /** Content type of an answer that is not JSON, for the docs. */
  readonly produces?: string;
  /** Largest JSON body in bytes; REQUEST_BODY_MAX_BYTES when left out. */
  readonly maxBody?: number;
  /** What to use instead; the docs mark the route as deprecated. */
  readonly deprecated?: string;
  /** Left out of the docs (pages, assets). */
  readonly hidden?: boolean;
  /** Honours Idempotency-Key (contract D.5). */
  readonly idempotent?: boolean;
  /** Answers even while the plugin is switched off (its own on/off route). */
  readonly alwaysOn?: boolean;
  /** Asked by machines every few seconds: its requests are logged at DEBUG, where others are at INFO. */
  readonly isProbe?: boolean;
  /** A GET that changes something, or a change on a surface of pages: sessions and the audit log name its origin. */
  readonly hasOrigin?: boolean;
  /** A GET that changes something: with the session cookie it is accepted from this site's own pages alone. */
  readonly changes?: boolean;
  /** Its answer holds a credential of the caller, or leads to one: nobody reads it with another person's eyes. */
  readonly isSecret?: boolean;
}

export interface HandlerInput<
  P extends Shape,
  Q extends Shape,
  B extends Shape,
  A extends RouteAccess,
  U extends boolean,
> {
  readonly params: Out<P>;
  readonly query: Out<Q>;
  readonly body: Out<B>;
  /** The JSON body's text as it was sent; undefined without one. */
  readonly bodyText: string | undefined;
  readonly caller: A extends "public" | "token" ? Principal | undefined : Principal;
  readonly request: RequestInfo;
  readonly upload: U extends true ? Upload : undefined;
  /** The unread request body, on routes with `rawBody`. */
  readonly raw: Readable;
}

/** One declared route with its handler, ready for the binder, the docs and the client. */
export interface Route<
  P extends Shape = Shape,
  Q extends Shape = Shape,
  B extends Shape = Shape,
  A extends RouteAccess = RouteAccess,
  U extends boolean = boolean,
  R = unknown,
  M extends Method = Method,
  L extends `/${string}` = `/${string}`,
> extends RouteDeclaration<P, Q, B, A, U, M, L> {
  handle(input: HandlerInput<P, Q, B, A, U>): R | Promise<R>;
}

// The registries hold routes of every shape; a handler's input is contravariant, so only `any` unites them.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyRoute = Route<any, any, any, any, any, any>;

/** Declares a route once; validation, docs and the client's types are derived from it. */
export function defineRoute<
  const M extends Method,
  const L extends `/${string}`,
  const A extends RouteAccess,
  R,
  P extends Shape = undefined,
  Q extends Shape = undefined,
  B extends Shape = undefined,
  const U extends boolean = false,
>(
  declaration: RouteDeclaration<P, Q, B, A, U, M, L>,
  handle: (input: HandlerInput<P, Q, B, A, U>) => R | Promise<R>,
): Route<P, Q, B, A, U, R, M, L> {
  return { ...declaration, handle };
}

/** A handler's answer with its own status, headers or cookies. */
export class Reply {
  readonly value: unknown;
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;

  constructor(value: unknown, options: { status?: number; headers?: OutgoingHttpHeaders } = {}) {
    this.value = value;
    this.status = options.status ?? 200;
    this.headers = options.headers ?? {};
  }
}

/** Answers `value` (JSON, a string, bytes, a node Readable, a LongBody, or nothing) with a status or headers of its own. */
export function reply(value: unknown, options?: { status?: number; headers?: OutgoingHttpHeaders }): Reply {
  return new Reply(value, options);
}

/** An answer written piece by piece: text frames (Server-Sent Events unless told otherwise). */
export class Stream {
  readonly frames: AsyncIterable<string | Uint8Array>;
  readonly contentType: string;
  readonly headers: OutgoingHttpHeaders;

  constructor(
    frames: AsyncIterable<string | Uint8Array>,
    options: { contentType?: string; headers?: OutgoingHttpHeaders } = {},
  ) {
    this.frames = frames;
    this.contentType = options.contentType ?? "text/event-stream; charset=utf-8";
    this.headers = options.headers ?? {};
  }
}

/** Answers frames as they come; the iterable is returned early when the client goes away. */
export function stream(
  frames: AsyncIterable<string | Uint8Array>,
  options?: { contentType?: string; headers?: OutgoingHttpHeaders },
): Stream {
  return new Stream(frames, options);
}

/** What an upstream answered: status, lower-cased headers and a node stream of its body. */
export interface Upstream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** Changes a body on its way; what it holds back goes out with a later piece or at the end. */
export interface BodyRewriter {
  push(bytes: Buffer): Buffer;
  end(): Buffer;
}

export interface RelayOptions {
  /** Sees every piece of the body on its way; must not keep or change it. */
  tap?(piece: Buffer): void;
  /**
   * Called once: without an error when the upstream ended, with one when it or the client broke off. The end
   * of the answer waits for what it returns, which must not reject.
   */
  end?(error?: Error): Promise<void> | void;
  /** Response headers instead of the default selection (content type, retry headers). */
  headers?: OutgoingHttpHeaders;
  /** Gets whole lines where there is a `brokenFrame`, else the pieces as they come. */
  rewriter?: BodyRewriter | undefined;
  /** Written as a last frame when the upstream breaks off mid-stream, in place of the line that it began. */
  brokenFrame?(error: Error): string;
  /** True for streams of the common format: `data: [DONE]` is added when the upstream ends without it. */
  endsWithDone?: boolean;
}

/** An upstream's body that is passed on byte for byte. */
export class Relay {
  readonly upstream: Upstream;
  readonly options: RelayOptions;

  constructor(upstream: Upstream, options: RelayOptions = {}) {
    this.upstream = upstream;
    this.options = options;
  }
}

/** Passes an upstream's answer on byte for byte; the upstream is aborted when the client goes away. */
export function relay(upstream: Upstream, options?: RelayOptions): Relay {
  return new Relay(upstream, options);
}
