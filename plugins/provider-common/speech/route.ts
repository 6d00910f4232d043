import { z } from "zod";
import { toExactJson } from "#kernel/completion/exact-numbers.ts";
import { beginCall, measured } from "#kernel/upstream/metered.ts";
import { defineRoute, relay, reply, type Upstream } from "#kernel/http/route.ts";
import { namesModelOnce, withModel } from "#kernel/upstream/model-key.ts";
import { toAddress } from "../connections/addresses.ts";
import { type CompatOptions, findCallee, passOn, toContext } from "../compat/routes.ts";
import { type SpeechCache, toSpeechKey } from "#kernel/upstream/speech-cache.ts";
import type { UpstreamClient } from "../connections/upstream.ts";

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
      const { target, subject } = await findCallee(options, body, caller);
      const { connection, upstreamId } = target;
      const isUnchanged = body.model === upstreamId && namesModelOnce(bodyText as string, body);
      const text = isUnchanged ? (bodyText as string) : toExactJson(withModel(body, upstreamId), bodyText);
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
        ? passOn(upstream, request.id, { isStream: isEvents })
        : relay(upstream, cache.keeper(key));
    },
  );
}

/** Some servers answer complaints with a good status. */
function isSound({ status, headers }: Upstream): boolean {
  return status === 200 && !/json|text/.test(String(headers["content-type"] ?? ""));
}
