import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { beginCall, measured } from "#kernel/completion/metered.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, relay, reply, type Upstream } from "#kernel/http/route.ts";
import { namesModelOnce, withModel } from "#kernel/upstream/model-key.ts";
import { toAddress } from "./addresses.ts";
import { type CompatOptions, passOn, requireOwn, toContext, toSubject } from "./compat-routes.ts";
import type { Connection } from "./connection.ts";
import type { Target } from "./offers.ts";
import { isNoChatModel } from "./parse-models.ts";
import { providerId } from "./provider.ts";
import { type SpeechCache, toSpeechKey } from "./speech-cache.ts";
import type { UpstreamClient } from "./upstream.ts";

export interface SpeechOptions extends CompatOptions {
  readonly client: UpstreamClient;
  readonly cache: SpeechCache;
}

const SpeechBody = z.looseObject({
  model: z.string().min(1).max(1024),
  input: z.string().min(1),
  voice: z.unknown().optional(),
  response_format: z.string().nullish(),
  stream_format: z.string().nullish(),
});

type SpeechBody = z.output<typeof SpeechBody>;

/** Content types by `response_format`; answers in other formats are passed on, but not kept. */
const types: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

/** Speech by the model of a connection (contract §2.3). What was spoken before comes from the store. */
export function speechRoute(options: SpeechOptions) {
  const { cache, client, ended } = options;
  return defineRoute(
    {
      method: "POST",
      path: "/audio/speech",
      summary: "Speak a text",
      access: "permission:chat.tts",
      body: SpeechBody,
      produces: "audio/mpeg",
      fails: [404, 429, 502, 504],
    },
    async ({ body, bodyText, caller, request }) => {
      const { target, subject } = await findSpeaker(options, body, caller);
      const { connection, upstreamId } = target;
      const isUnchanged = body.model === upstreamId && namesModelOnce(bodyText as string, body);
      const text = isUnchanged ? (bodyText as string) : JSON.stringify(withModel(body, upstreamId));
      const isEvents = body.stream_format === "sse";
      const type = isEvents ? undefined : types[body.response_format ?? "mp3"];
      const key = toSpeechKey(connection.fingerprint, text);
      const kept = type === undefined ? undefined : await cache.find(key);
      if (kept !== undefined) {
        return reply(kept, { headers: { "content-type": type } });
      }
      const { signal, ...facts } = toContext(caller, request);
      const asking = client.open({
        connection,
        url: toAddress(connection, "/audio/speech", upstreamId),
        method: "POST",
        body: text,
        accept: "*/*",
        isStream: isEvents,
        facts,
        signal,
      });
      const call = beginCall({ ...subject, wire: "generate" }, { ...facts, signal }, ended);
      const upstream = await measured(call, asking);
      return type === undefined || !isSound(upstream)
        ? passOn(upstream, isEvents, request.id)
        : relay(upstream, cache.keeper(key));
    },
  );
}

/** Some servers answer complaints with a good status. */
function isSound({ status, headers }: Upstream): boolean {
  return status === 200 && !/json|text/.test(String(headers["content-type"] ?? ""));
}

/** Where a model speaks. Throws `not_found` for what the caller may not use. */
async function findSpeaker(
  { connections, models, provider }: SpeechOptions,
  body: SpeechBody,
  caller: Principal,
) {
  const unlisted = connections.find(body.model)
    ? undefined
    : findUnlisted(connections.list(), body.model, caller);
  if (unlisted) {
    const item = { urlIdx: unlisted.connection.index };
    return {
      target: unlisted,
      subject: {
        modelId: body.model,
        model: { id: body.model, item },
        provider: { id: providerId },
        asked: body,
      },
    };
  }
  const { model, target } = requireOwn(await models.resolve(caller, body.model), provider);
  if (target.connection.format !== "common") {
    throw new AppError("not_found", "Model not found");
  }
  return { target, subject: toSubject(model, body) };
}

/**
 * The vendor's own host lists models that speak, but they are left out of the list because they do not chat: they are
 * for everybody who may use models of the connection that have no record.
 */
export function findUnlisted(
  connections: readonly Connection[],
  id: string,
  { role }: Pick<Principal, "role">,
): Target | undefined {
  for (const connection of connections) {
    const { prefix, isDefaultHost, isEnabled, problem, modelIds, access } = connection;
    const isOpen = isDefaultHost && isEnabled && !problem && modelIds.length === 0;
    const isFor = access === "everyone" || role === "admin";
    const upstreamId = prefix === "" ? id : id.startsWith(`${prefix}.`) ? id.slice(prefix.length + 1) : "";
    if (isOpen && isFor && isNoChatModel(upstreamId)) {
      return { connection, upstreamId };
    }
  }
  return undefined;
}
