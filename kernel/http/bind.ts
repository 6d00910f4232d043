import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { randomUUID } from "node:crypto";
import type { Authenticator } from "#kernel/access/authenticator.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import { isUnavailable } from "#storage/errors.ts";
import { defaultPatience, readText } from "./body.ts";
import { blameBrokenText } from "./broken-text.ts";
import { toCommonHeaders } from "./cors.ts";
import { withOrigin } from "./current-request.ts";
import { findCredential } from "./credential.ts";
import { toErrorAnswer } from "./errors.ts";
import type { ClientAddress } from "./forwarded.ts";
import {
  requireAccess,
  requireJsonType,
  requireNoForeignForm,
  requireSameOrigin,
  requireShownAccount,
  resolveCaller,
  toFacts,
} from "./gate.ts";
import type { Idempotency } from "./idempotency.ts";
import { parseJson } from "./json.ts";
import { isLasting, type OpenAnswers } from "./open-answers.ts";
import { asPreferred } from "./preferences.ts";
import type { RespondContext } from "./head.ts";
import { respond, writeWhole } from "./respond.ts";
import type { AnyRoute, RequestInfo } from "./route.ts";
import { type ErrorShape, type Surface, surfaces } from "./surfaces.ts";
import type { RecentErrors } from "#kernel/recent-errors.ts";
import { createUpload } from "./upload.ts";
import { withFingerprint } from "./upload-fingerprint.ts";
import { writeUnread } from "./unread.ts";
import { checkAnswer, logAnswer, toRecentError } from "./report.ts";
import { decodeParams, toQuery } from "./url-input.ts";
import { validate } from "./validate.ts";

/** What every bound route shares; settings are read live. */
export interface BindContext {
  readonly authenticator: Authenticator;
  readonly log: Logger;
  readonly clientAddress: ClientAddress;
  readonly idempotency: Idempotency;
  readonly openAnswers: OpenAnswers;
  /** Takes in answers with a status from 500 on. */
  readonly errors: Pick<RecentErrors, "record">;
  /** The sentence that says why the server's disk takes nothing; undefined when it is fine. */
  readonly diskProblem: () => Promise<string | undefined>;
  keyHeader(): string;
  maxBody(): number;
  compress(): boolean;
  fastJson(): boolean;
  /** Whether the ecosystem's names of surfaces are answered. */
  aliases(): boolean;
  /** Allowed origins of CORS_ALLOW_ORIGIN, and that of WEBUI_URL. */
  origins(): readonly string[];
  /** Told of an answer that does not fit the route's `returns`; undefined where nothing is checked. */
  readonly onMismatch: ((route: AnyRoute, problem: string) => void) | undefined;
}

/** A route with the plugin it belongs to. */
export interface OwnedRoute {
  readonly plugin: string;
  readonly surface: Surface;
  readonly route: AnyRoute;
  isEnabled(): boolean;
  readonly whenOff: 401 | 403 | 404 | 503;
}

/** The request's way through one route: authenticate → gate → permit → validate → handle → write. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly params: Record<string, string> | undefined;
}

/** Makes the function that serves `owned`; it resolves once the response has closed and never rejects. */
export function bindRoute(owned: OwnedRoute, context: BindContext): (exchange: Exchange) => Promise<void> {
  const { route, surface } = owned;
  const shape = route.errors ?? surfaces[surface].errors;
  const invalidStatus =
    route.errors === undefined || route.errors === "detail" ? surfaces[surface].invalidStatus : 400;

  return async ({ req, res, params }) => {
    const started = performance.now();
    const id = requestIdOf(req);
    const log = context.log;
    const level = route.isProbe ? "debug" : "info";
    if (log.isLevelEnabled(level)) {
      res.once("close", () => logAnswer(log, level, { req, res, id, started }));
    }
    const writing: RespondContext = {
      head: withVendorId(toCommonHeaders(req, id, context.origins()), shape, id),
      started,
      requestId: id,
      acceptEncoding: req.headers["accept-encoding"] as string | undefined,
      isHead: req.method === "HEAD",
      isPrivate: route.access !== "public" || isPersonal(req),
      compress: context.compress(),
      fastJson: context.fastJson(),
      failed: (error) => log.info({ id, err: error }, "the answer broke off"),
    };
    try {
      const answer = await serve(owned, context, { req, res, params, id });
      const written = respond(res, answer, writing);
      if (written) {
        await written;
      }
    } catch (error) {
      // The embedded database goes away with a full disk.
      const diskProblem = isUnavailable(error) ? await context.diskProblem() : undefined;
      const refusal = toErrorAnswer(error, { shape, invalidStatus, requestId: id, diskProblem });
      const answer = asPreferred(error, refusal, req);
      if (res.closed) {
        // The client left: whatever that broke is nobody's failure.
        return;
      }
      if (answer.unexpected) {
        log.error({ id, err: error, route: `${route.method} ${route.path}` }, "a request failed");
      }
      if (answer.status >= 500) {
        context.errors.record(toRecentError(owned, { id, answer, error }));
      }
      if (res.headersSent) {
        res.destroy();
        return;
      }
      const headers = { "content-type": "application/json", ...answer.headers };
      const written = { body: answer.body, status: answer.status, headers };
      await (req.complete ? writeWhole(res, written, writing) : writeUnread({ req, res }, written, writing));
    }
  };
}

/** A public route may answer more to those who say who they are. */
function isPersonal({ headers }: IncomingMessage): boolean {
  return headers.cookie !== undefined || headers.authorization !== undefined;
}

interface Served extends Exchange {
  readonly id: string;
}

async function serve(owned: OwnedRoute, context: BindContext, served: Served): Promise<unknown> {
  const { route } = owned;
  const { req } = served;
  const info = new Info(served, context);
  const vendor = route.errors === "message";
  const credential = findCredential(req.headers, { keyHeader: context.keyHeader(), vendor });
  const knownAt = context.openAnswers.changes;
  const found = resolveCaller({ route, credential, info, authenticator: context.authenticator });
  const caller = found instanceof Promise ? await found : found;
  if (credential?.source === "cookie") {
    requireSameOrigin(info, { origins: context.origins(), changes: route.changes });
    requireShownAccount(route, caller, info);
  } else if (credential === undefined) {
    requireNoForeignForm(info, context.origins());
  }
  if (!route.alwaysOn && !owned.isEnabled()) {
    throw switchedOff(owned.whenOff);
  }
  requireAccess(route, caller);
  requireJsonType(surfaces[owned.surface], route, req);

  const params = route.params ? validate(route.params, decodeParams(served.params), "path") : undefined;
  const query = route.query ? validate(route.query, toQuery(req.url ?? ""), "query") : undefined;
  const text = route.body
    ? await readText(req, { maxBytes: route.maxBody ?? context.maxBody(), ...defaultPatience })
    : undefined;
  const body = route.body ? validateBody(route, text) : undefined;
  // An empty header says nothing that could tell one request from another.
  const key = (route.idempotent && req.headers["idempotency-key"]) || undefined;
  const { upload, fingerprint } = toUpload(route, req, {
    isKeyed: key !== undefined,
    toText: () => `${info.url}\n${text ?? ""}`,
  });
  const input = { params, query, body, bodyText: text, caller, request: info, upload, raw: req };
  const call = () => blameBrokenText(body, () => route.handle(input));
  const handle = () => withOrigin(owned, { info, caller }, call);
  const answer =
    key === undefined
      ? await handle()
      : await context.idempotency.run(
          { key: String(key), caller, route: `${route.method} ${route.path}`, fingerprint },
          handle,
        );
  if (context.onMismatch && route.returns) {
    checkAnswer(route, answer, context.onMismatch);
  }
  if (credential && caller && route.access !== "public" && isLasting(answer)) {
    context.openAnswers.watch({ res: served.res, route, credential, caller, facts: toFacts(info) }, knownAt);
  }
  return answer;
}

function switchedOff(status: OwnedRoute["whenOff"]): AppError {
  const code = ({ 401: "unauthenticated", 403: "forbidden", 404: "not_found", 503: "unavailable" } as const)[
    status
  ];
  return new AppError(code, status === 404 ? "Not found" : "This feature is switched off.");
}

/** The multipart body, with what tells it from others when the request carries a key. */
function toUpload(
  route: AnyRoute,
  req: IncomingMessage,
  { isKeyed, toText }: { isKeyed: boolean; toText: () => string },
) {
  const plain = route.upload ? createUpload(req, req.headers) : undefined;
  if (plain === undefined || !isKeyed) {
    return { upload: plain, fingerprint: toText };
  }
  const { upload, fingerprint } = withFingerprint(plain, "file");
  return { upload, fingerprint: async () => `${toText()}\n${await fingerprint()}` };
}

function validateBody(route: AnyRoute, text: string | undefined): unknown {
  if (text === undefined || text.trim() === "") {
    if (route.bodyOptional) {
      return undefined;
    }
    throw new AppError("unprocessable", [
      { type: "missing", loc: ["body"], msg: "A JSON body is required.", input: null },
    ]);
  }
  return validate(route.body, parseJson(text), "body");
}

/** Made once: an error with its stack for every answer costs more than routing it. */
const closed = new DOMException("The client is gone.", "AbortError");

/**
 * What a handler learns of its request. A class, because an object literal with a getter is slow to make and, with all
 * that its getter refers to, outlives the request by far.
 */
class Info implements RequestInfo {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly address: string;
  readonly protocol: string;
  readonly host: string | undefined;
  readonly isProxied: boolean;
  readonly #res: ServerResponse;
  #controller: AbortController | undefined;

  constructor({ req, res, id }: Served, context: BindContext) {
    const client = context.clientAddress(req.socket.remoteAddress ?? "", req.headers);
    this.id = id;
    this.method = req.method ?? "GET";
    this.url = req.url ?? "/";
    this.headers = req.headers;
    this.address = client.address;
    this.protocol = client.protocol;
    this.host = client.host;
    this.isProxied = client.isProxied;
    this.#res = res;
  }

  /** Most handlers never ask; the controller is made for those that do. */
  get signal(): AbortSignal {
    this.#controller ??= abortWhenGone(this.#res);
    return this.#controller.signal;
  }
}

function abortWhenGone(res: ServerResponse): AbortController {
  const controller = new AbortController();
  if (res.closed) {
    controller.abort(closed);
  } else {
    // A complete answer leaves nothing to abort, and telling so would cost every request an event.
    res.once("close", () => void (res.writableFinished || controller.abort(closed)));
  }
  return controller;
}

/** Clients of the vendor message format look for the request's id under another name. */
function withVendorId(head: OutgoingHttpHeaders, shape: ErrorShape, id: string): OutgoingHttpHeaders {
  return shape === "message" ? { ...head, "request-id": id } : head;
}

function requestIdOf(req: IncomingMessage): string {
  const given = req.headers["x-request-id"];
  return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}
