import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import { toExactJson } from "#kernel/completion/exact-numbers.ts";
import { AppError } from "#kernel/errors.ts";
import { defaultPatience, readBody } from "#kernel/http/body.ts";
import { parseJson } from "#kernel/http/json.ts";
import { defineRoute, type RequestInfo } from "#kernel/http/route.ts";
import { namesModelOnce, withModel, withoutOtherSpellings } from "#kernel/upstream/model-key.ts";
import type { Models } from "#plugins/models/service.ts";
import { beginCall, type CallEnded, measured } from "#kernel/upstream/metered.ts";
import { passOn, toContext, toSubject } from "./routes.ts";
import type { Connection } from "../connections/connection.ts";
import type { Connections } from "../connections/connections.ts";
import { type CommonProvider, providerId } from "../completions/provider.ts";
import type { UpstreamClient } from "../connections/upstream.ts";

export interface PassthroughOptions {
  readonly provider: CommonProvider;
  readonly connections: Connections;
  readonly models: Models;
  readonly client: UpstreamClient;
  /** Told of every call of a model. */
  ended: CallEnded;
  /** ENABLE_OPENAI_API_PASSTHROUGH. */
  isAllowed(): boolean;
  /** REQUEST_BODY_MAX_BYTES. */
  maxBody(): number;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Any other route of an upstream, for whoever may use the platform, once an operator allows it (contract §2.3). */
export function passthroughRoutes(options: PassthroughOptions) {
  return methods.map((method) =>
    defineRoute(
      {
        method,
        path: "/**:path",
        summary: "Pass any request on to a provider",
        access: "user",
        rawBody: true,
        fails: [403, 404],
      },
      ({ caller, request, raw }) => passThrough(options, { caller, request, raw }),
    ),
  );
}

interface Asked {
  readonly caller: Principal;
  readonly request: RequestInfo;
  readonly raw: Readable;
}

async function passThrough(options: PassthroughOptions, { caller, request, raw }: Asked) {
  if (!options.isAllowed()) {
    throw new AppError("forbidden", "Passing other requests on to providers is switched off.");
  }
  const contentType = request.headers["content-type"];
  const isJson = /\bjson\b/i.test(contentType ?? "");
  const hasBody =
    request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
  if (hasBody && !isJson && !/^multipart\/form-data\b/i.test(contentType ?? "")) {
    // Lenient upstreams read JSON under any type: with it a model could be named that nobody checked.
    throw new AppError("invalid", "Only JSON and multipart forms can be passed on.");
  }
  const bytes =
    isJson && hasBody
      ? await readBody(raw as IncomingMessage, { maxBytes: options.maxBody(), ...defaultPatience })
      : undefined;
  const chosen = await choose(options, caller, bytes);
  const context = toContext(caller, request);
  const { signal, ...facts } = context;
  const opening = options.client.open({
    connection: chosen.connection,
    url: toUrl(chosen.connection, request.url),
    method: request.method,
    body: chosen.body ?? (hasBody ? raw : undefined),
    contentType,
    accept: request.headers.accept ?? "*/*",
    isStream: chosen.isStream,
    facts,
    signal,
  });
  const { subject } = chosen;
  const upstream = subject
    ? measured(beginCall({ ...subject, wire: "generate" }, context, options.ended), opening)
    : opening;
  return passOn(await upstream, request.id, { isStream: chosen.isStream });
}

interface Chosen {
  readonly connection: Connection;
  readonly body: string | Buffer | undefined;
  readonly isStream: boolean;
  /** Undefined where no model is named. */
  readonly subject?: ReturnType<typeof toSubject>;
}

/** The connection of the body's `model`, which the caller must be allowed to use; the first one without a model. */
async function choose(
  { models, provider, connections }: PassthroughOptions,
  caller: Principal,
  bytes: Buffer | undefined,
): Promise<Chosen> {
  const text = bytes?.toString("utf8") ?? "";
  const body = text === "" ? undefined : (parseJson(text) as Record<string, unknown> | null);
  const isStream = body?.["stream"] === true;
  const isClear = namesModelOnce(text, body);
  if (typeof body?.["model"] !== "string") {
    const sent = isClear
      ? bytes
      : toExactJson(Array.isArray(body) ? body : withoutOtherSpellings(body ?? {}), text);
    return { connection: requireFirst(connections), body: sent, isStream };
  }
  const model = await models.resolve(caller, body["model"], [providerId]);
  if (model.provider.id !== providerId) {
    throw new AppError("not_found", "Model not found");
  }
  const { connection, upstreamId } = provider.requireTarget(model.base.id);
  const isUnchanged = body["model"] === upstreamId && isClear;
  const sent = isUnchanged ? bytes : toExactJson(withModel(body, upstreamId), text);
  return { connection, body: sent, isStream, subject: toSubject(model, body) };
}

function requireFirst(connections: Connections): Connection {
  const first = connections.list()[0];
  if (first === undefined || !first.isEnabled || first.problem || first.format !== "common") {
    throw new AppError("not_found", "No connection can take this request.");
  }
  return first;
}

/** The upstream's address for what stands behind /compat, which may not climb out of the connection's base. */
function toUrl(connection: Connection, asked: string): string {
  const [path = "", query] = splitOnce(asked.slice(asked.indexOf("/compat/") + "/compat".length), "?");
  const base = new URL(connection.url);
  const url = URL.parse(
    base.pathname.replace(/\/$/, "") + path + (query === undefined ? "" : `?${query}`),
    base.origin,
  );
  // What parsers of addresses drop or read differently (control characters, `..;`) counts as climbing too.
  const isClimbing = /(?:^|\/)(?:\.|%2e){1,2}(?:[/;]|$)|\\|%5c|%2f|[^!-~]/i.test(path);
  if (url === null || url.origin !== base.origin || isClimbing) {
    throw new AppError("invalid", "This path cannot be passed on.");
  }
  return url.href;
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
