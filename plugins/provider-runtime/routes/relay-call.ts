import type { Principal } from "#kernel/access/principal.ts";
import { beginCall, type CallEnded } from "#kernel/upstream/metered.ts";
import type { Wire as CallWire } from "#kernel/completion/model-call.ts";
import { type FindProfile, withFilledPrompt } from "#plugins/models/service.ts";
import { watchBytes } from "#kernel/upstream/watch-answer.ts";
import { type Tags, toTags } from "#kernel/completion/reasoning-tags.ts";
import { toExactJson } from "#kernel/completion/exact-numbers.ts";
import { AppError } from "#kernel/errors.ts";
import { toErrorAnswer, toErrorFrame } from "#kernel/http/errors.ts";
import { relay, type RequestInfo, stream, type Upstream } from "#kernel/http/route.ts";
import { namesModelOnce, withModel } from "#kernel/upstream/model-key.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import type { RuntimeClient } from "../backends/client.ts";
import { type RuntimeProvider, providerId } from "../provider.ts";
import { renameLines, renameWhole } from "../reply/rename-lines.ts";
import { ThinkingLines, type ThinkingRoute, withThinking } from "../reply/tagged-thinking.ts";

type Body = Readonly<Record<string, unknown>>;

export interface RelayCallOptions {
  readonly provider: RuntimeProvider;
  readonly client: RuntimeClient;
  readonly models: Models;
  readonly findProfile: FindProfile;
  /** Called after every model call: these routes bypass the catalogue, which counts the others. */
  ended: CallEnded;
}

/** How an answer tells that it broke off: as a JSON line, as an event of the common format, or as the vendor's event. */
export type Wire = "lines" | "events" | "vendor";

/** The paths that ask a model, and the format in which they do; others only ask about one. */
const callWires: Readonly<Record<string, CallWire>> = {
  "/api/generate": "generate",
  "/v1/completions": "generate",
  "/api/chat": "chat",
  "/v1/chat/completions": "chat",
  "/v1/messages": "messages",
  "/api/embed": "embeddings",
  "/api/embeddings": "embeddings",
  "/v1/embeddings": "embeddings",
};

export interface RelayedCall {
  readonly caller: Principal;
  readonly request: RequestInfo;
  readonly body: Body;
  /** The body as it was sent; undefined where it may not go out as it is. */
  readonly text: string | undefined;
  /** The id the caller named. */
  readonly modelId: string;
  /** One backend, where the path names it. */
  readonly index: number | undefined;
  readonly path: string;
  readonly isStream: boolean;
  readonly wire: Wire;
  /** Set where the answer has a place for thoughts. */
  readonly thinking?: ThinkingRoute | undefined;
  /** Fills in the model's saved parameters; returns the same object where there are none. */
  fill?(body: Body, saved: Body): Body;
}

/** Relays a request for a model to a backend that holds it, with the access rules of chat completions. */
export async function relayCall(options: RelayCallOptions, relayed: RelayedCall) {
  const { upstream, prefix, tags } = await send(options, relayed);
  return relayAnswer(upstream, { ...relayed, prefix, tags });
}

/** Sends the request; gives the answer as it comes, the prefix that its models lack, and the tags around reasoning in it. */
export async function send(
  { provider, client, models, findProfile, ended }: RelayCallOptions,
  relayed: RelayedCall,
): Promise<{ upstream: Upstream; prefix: string; tags: readonly Tags[] }> {
  const { caller, request, body, text, path, isStream, fill } = relayed;
  const model = await resolveOwn(models, caller, relayed.modelId);
  const holders = provider.requireHolders(model.base.id, relayed.index);
  const filled = fill ? fill(body, await withFilledPrompt(model.params, caller, findProfile)) : body;
  const isUntouched = filled === body && text !== undefined && namesModelOnce(text, body);
  const context = { principal: caller, userAgent: request.headers["user-agent"], signal: request.signal };
  const wire = callWires[path];
  const subject = { modelId: model.id, model: model.base, provider, asked: filled };
  const call = wire && beginCall({ ...subject, wire }, context, ended);
  const opening = client.openAny(holders, {
    path,
    isStream,
    toBody: (id) => (isUntouched && body["model"] === id ? text : toExactJson(withModel(filled, id), text)),
    context,
  });
  const { upstream, holder } = await opening.catch((error: unknown) => {
    call?.break(error);
    throw error;
  });
  if (call) {
    watchBytes(upstream, call);
  }
  return { upstream, prefix: holder.backend.prefix, tags: toTags(model.params["reasoning_tags"]) };
}

export interface AnswerOptions {
  readonly prefix: string;
  readonly request: RequestInfo;
  readonly isStream: boolean;
  readonly wire: Wire;
  readonly thinking?: ThinkingRoute | undefined;
  /** The tags around reasoning in the model's texts. */
  readonly tags?: readonly Tags[];
  /** Called once, when the answer has ended. */
  ended?(): void;
}

/**
 * The backend's bytes as they are; where there is a prefix, with the public id in their `model` fields, and where text
 * begins with reasoning in tags, with that as `thinking`.
 */
export async function relayAnswer(
  upstream: Upstream,
  { prefix, request, isStream, wire, thinking, tags = [], ended }: AnswerOptions,
) {
  const { signal } = request;
  const broken = (error: unknown) => toBroken(error, wire, request.id);
  const type = String(upstream.headers["content-type"] ?? "").toLowerCase();
  const isLines = isStream && !/^application\/json\b/.test(type);
  const rewriter = isLines && thinking ? new ThinkingLines(thinking, tags) : undefined;
  if (prefix !== "" && isLines) {
    const lines = renameLines(upstream, { prefix, signal, broken, rewriter });
    return stream(lines, { contentType: type || "application/x-ndjson" });
  }
  const answered =
    isLines || !thinking ? upstream : await withThinking(upstream, { route: thinking, tags, signal });
  const named = prefix === "" ? answered : await renameWhole(answered, { prefix, signal });
  return relay(named, {
    rewriter,
    ...(isStream && {
      brokenFrame: broken,
      endsWithDone: wire === "events" && type.includes("event-stream"),
    }),
    ...(ended && { end: () => ended() }),
  });
}

/**
 * A model of this provider that the caller may use; without a tag the runtime means the latest. Throws `not_found` for
 * unknown, forbidden and other providers' models alike (contract D.13).
 */
export async function resolveOwn(models: Models, caller: Principal, id: string): Promise<ResolvedModel> {
  const found = await resolveLatest(models, caller, { id, among: [providerId] });
  if (found.provider.id !== providerId) {
    throw new AppError("not_found", "Model not found");
  }
  return found;
}

/** A model by its id, or by its id without the tag `latest`; `among` are the providers whose models count. */
export async function resolveLatest(
  models: Models,
  caller: Principal,
  { id, among }: { id: string; among?: readonly string[] },
): Promise<ResolvedModel> {
  try {
    return await models.resolve(caller, id, among);
  } catch (error) {
    // The host of a registry may have a port: only what follows it is a tag.
    const hasTag = id.slice(id.lastIndexOf("/") + 1).includes(":");
    if (error instanceof AppError && error.code === "not_found" && !hasTag) {
      return models.resolve(caller, `${id}:latest`, among);
    }
    throw error;
  }
}

/** The last frame of a stream that broke off; an empty line ends the line that was cut. */
function toBroken(error: unknown, wire: Wire, requestId: string): string {
  if (wire === "events") {
    return `\n\ndata: ${toErrorFrame(error, requestId)}\n\n`;
  }
  const shape = wire === "lines" ? "runtime" : "message";
  const { body } = toErrorAnswer(error, { shape, invalidStatus: 400, requestId });
  // Half an event of the vendor becomes a ping: clients skip those unread, and would stumble over half a JSON text.
  return wire === "lines" ? `\n${body}\n` : `\nevent: ping\n\nevent: error\ndata: ${body}\n\n`;
}
