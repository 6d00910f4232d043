import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { beginCall, type CallEnded, measured } from "#kernel/upstream/metered.ts";
import type {
  CallContext,
  ChunkStream,
  CompletionAnswer,
  CompletionCall,
} from "#kernel/completion/provider.ts";
import { CompletionRequest, EmbeddingsRequest, platformKeys } from "#kernel/completion/request.ts";
import { fillSaved } from "#plugins/models/service.ts";
import { type FindProfile, withFilledPrompt } from "#plugins/models/service.ts";
import { ExactNumbers, toExactJson } from "#kernel/completion/exact-numbers.ts";
import { AppError } from "#kernel/errors.ts";
import { toErrorFrame } from "#kernel/http/errors.ts";
import { defineRoute, relay, type RequestInfo, reply, stream, type Upstream } from "#kernel/http/route.ts";
import { namesModelOnce, withModel } from "#kernel/upstream/model-key.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import type { Connections } from "../connections/connections.ts";
import type { Target } from "../models/offers.ts";
import type { CommonProvider } from "../completions/provider.ts";
import { providerId } from "../completions/provider.ts";
import { adapt, fitsAsItIs } from "../completions/request.ts";

/** The providers of the models that connections offer: one for each format. */
export const connectionProviders: readonly string[] = [providerId, "message"];

export interface CompatOptions {
  readonly provider: CommonProvider;
  readonly connections: Connections;
  readonly models: Models;
  readonly findProfile: FindProfile;
  /** Told of every model call, for these routes reach the provider without the catalogue. */
  ended: CallEnded;
}

/** Whatever else a request holds is between the caller and the provider. */
const ChatBody = CompletionRequest.pick({
  model: true,
  messages: true,
  stream: true,
  tools: true,
  stop: true,
});

type ChatBody = z.output<typeof ChatBody>;

const ModelList = z.object({ object: z.literal("list"), data: z.array(z.looseObject({ id: z.string() })) });

/** The common-format proxy: no filters, tools or retrieval; saved parameters and access hold (contract §2.3). */
export function compatRoutes(options: CompatOptions) {
  return [...listRoutes(options), chatRoute(options), embeddingsRoute(options)] as const;
}

function listRoutes({ connections, models }: CompatOptions) {
  const visible = async (caller: Principal) =>
    (await models.list(caller, { among: connectionProviders })).filter(
      (item) => item["preset"] !== true && findTarget(connections, String(item["id"]), item) !== undefined,
    );
  return [
    defineRoute(
      {
        method: "GET",
        path: "/models",
        summary: "List the models of all connections",
        access: "user",
        returns: ModelList,
      },
      async ({ caller }) => ({ object: "list", data: await visible(caller) }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/models/:idx",
        summary: "List one connection's models",
        access: "user",
        params: z.object({ idx: z.coerce.number().int().min(0) }),
        returns: ModelList,
        fails: [404],
      },
      async ({ caller, params: { idx } }) => {
        if (connections.list()[idx] === undefined) {
          throw new AppError("not_found", "Connection not found");
        }
        return { object: "list", data: (await visible(caller)).filter((item) => item["urlIdx"] === idx) };
      },
    ),
  ] as const;
}

function chatRoute({ provider, connections, models, findProfile, ended }: CompatOptions) {
  return defineRoute(
    {
      method: "POST",
      path: "/chat/completions",
      summary: "Pass a chat completion on to its provider",
      access: "user",
      body: ChatBody,
      fails: [404, 429, 502, 504],
    },
    async ({ body, bodyText, caller, request }) => {
      const { model, target } = requireConnection(
        await models.resolve(caller, body.model, connectionProviders),
        connections,
      );
      const saved = withFilledPrompt(model.params, caller, findProfile);
      const filled = fillSaved(body, saved instanceof Promise ? await saved : saved);
      const context = toContext(caller, request);
      if (target.connection.format === "message") {
        return toReply(
          await model.provider.complete({
            ...toCall(model, filled, context),
            numbers: () => ExactNumbers.read(bodyText),
          }),
        );
      }
      const isUnchanged =
        filled === body && fitsAsItIs(body, target) && namesModelOnce(bodyText as string, body);
      const text = isUnchanged
        ? (bodyText as string)
        : toExactJson(adapt({ ...target.connection.extraParams, ...filled }, target), bodyText);
      const isStream = body.stream === true;
      const call = beginCall({ ...toSubject(model, filled), wire: "chat" }, context, ended);
      const answer = await measured(call, provider.relay({ target, body: text, isStream, context }));
      return "kind" in answer
        ? toReply(answer)
        : passOn(answer, request.id, { isStream, endsWithDone: isStream });
    },
  );
}

/** A chat completion for whatever provider runs the model; the catalogue measures it. Keys of the platform stay here. */
export function toCall({ base }: ResolvedModel, body: ChatBody, context: CallContext): CompletionCall {
  const kept = Object.entries(body).filter(([name]) => !platformKeys.has(name) && name !== "metadata");
  const request = { ...Object.fromEntries(kept), model: base.id } as CompletionRequest;
  return { ...context, model: base, request };
}

function toReply(answer: CompletionAnswer) {
  return answer.kind === "stream"
    ? stream(toFrames(answer.stream))
    : reply(answer.text ?? JSON.stringify(answer.completion), {
        headers: { "content-type": "application/json" },
      });
}

function embeddingsRoute(options: CompatOptions) {
  const { provider, ended } = options;
  return defineRoute(
    {
      method: "POST",
      path: "/embeddings",
      summary: "Embed texts",
      access: "user",
      body: EmbeddingsRequest,
      fails: [404, 429, 502, 504],
    },
    async ({ body, bodyText, caller, request }) => {
      const { target, subject } = await findCallee(options, body, caller);
      const isUnchanged = body.model === target.upstreamId && namesModelOnce(bodyText as string, body);
      const text = isUnchanged
        ? (bodyText as string)
        : toExactJson(withModel(body, target.upstreamId), bodyText);
      const context = toContext(caller, request);
      const call = beginCall({ ...subject, wire: "embeddings" }, context, ended);
      const asking = provider.postEmbeddings(
        { target, body: text, isStream: false, context },
        body.encoding_format,
      );
      return passOn(await measured(call, asking), request.id, { isStream: false });
    },
  );
}

/** What a measured call is about. */
export function toSubject({ id, base, provider }: ResolvedModel, asked: unknown) {
  return { modelId: id, model: base, provider, asked };
}

/** What a measured call to a model that stands in no list is about. */
export function toUnlistedSubject({ connection }: Target, asked: { readonly model: string }) {
  const model = { id: asked.model, item: { urlIdx: connection.index } };
  return { modelId: asked.model, model, provider: { id: providerId }, asked };
}

/** Where the calls of a model go that need not chat. Throws `not_found` for what the caller may not use. */
export async function findCallee(
  { connections, models, provider }: Pick<CompatOptions, "connections" | "models" | "provider">,
  asked: { readonly model: string },
  caller: Principal,
) {
  const unlisted = (await models.isKnown(asked.model))
    ? undefined
    : connections.unlisted(asked.model, caller);
  if (unlisted) {
    return { target: unlisted, subject: toUnlistedSubject(unlisted, asked) };
  }
  const { model, target } = requireOwn(await models.resolve(caller, asked.model, [providerId]), provider);
  if (target.connection.format !== "common") {
    throw new AppError("not_found", "Model not found");
  }
  return { target, subject: toSubject(model, asked) };
}

/** What the upstream is told of the request. */
export function toContext(caller: Principal, request: RequestInfo): CallContext {
  return { principal: caller, userAgent: request.headers["user-agent"], signal: request.signal };
}

/** Passes bytes on; a stream that breaks off ends with an error frame, so that clients do not take it for complete. */
export function passOn(
  upstream: Upstream,
  requestId: string,
  { isStream, endsWithDone = false }: { readonly isStream: boolean; readonly endsWithDone?: boolean },
) {
  // The line that was cut off must not swallow the frame.
  const brokenFrame = (error: Error) => `\n\ndata: ${toErrorFrame(error, requestId)}\n\n`;
  return relay(upstream, isStream ? { brokenFrame, endsWithDone } : {});
}

/** A resolved model with where its calls go. Throws `not_found` for models of other providers. */
export function requireOwn(
  model: ResolvedModel,
  provider: CommonProvider,
): { model: ResolvedModel; target: Target } {
  // Another provider's model is as unknown here as one that does not exist.
  if (model.provider.id !== providerId) {
    throw new AppError("not_found", "Model not found");
  }
  return { model, target: provider.requireTarget(model.base.id) };
}

/**
 * A resolved model with the connection that serves it, whatever that speaks. Throws `not_found` for models of anything
 * but connections.
 */
export function requireConnection(
  model: ResolvedModel,
  connections: Pick<Connections, "find">,
): { model: ResolvedModel; target: Target } {
  const target = findTarget(connections, model.base.id, model.base.item);
  if (target === undefined) {
    throw new AppError("not_found", "Model not found");
  }
  return { model, target };
}

/** Another provider may offer a model of the same id: it is a connection's only where its item names that one. */
function findTarget(
  connections: Pick<Connections, "find">,
  id: string,
  item: Readonly<Record<string, unknown>>,
): Target | undefined {
  const target = connections.find(id);
  return target !== undefined && item["urlIdx"] === target.connection.index ? target : undefined;
}

async function* toFrames(answer: ChunkStream): AsyncGenerator<string> {
  for await (const batch of answer.chunks()) {
    yield batch.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  }
  yield "data: [DONE]\n\n";
}
