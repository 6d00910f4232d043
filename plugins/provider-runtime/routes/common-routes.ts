import { packVectors } from "#kernel/upstream/pack-vectors.ts";
import { z } from "zod";
import { EmbeddingsRequest, Message } from "#kernel/completion/request.ts";
import { fillSaved } from "#plugins/models/service.ts";
import { withSystemBlocks } from "#plugins/models/service.ts";
import { defineRoute, type RequestInfo, reply } from "#kernel/http/route.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import { relayAnswer, relayCall, type RelayedCall, type RelayCallOptions, send } from "./relay-call.ts";
import { Index } from "./indexed.ts";

const shared = { model: z.string().min(1).max(1024), stream: z.boolean().nullish() };
const Completion = z.looseObject(shared);
const Chat = z.looseObject({ ...shared, messages: z.array(Message) });
const Messages = z.looseObject({ ...shared, messages: z.array(z.looseObject({ role: z.string() })) });

interface RouteInput {
  readonly caller: Principal;
  readonly request: RequestInfo;
  readonly bodyText: string | undefined;
  readonly body: Readonly<Record<string, unknown>> & { readonly model: string };
}

type Fill = NonNullable<RelayedCall["fill"]>;

const declared = { method: "POST", access: "user", fails: [404, 429, 502, 503, 504] } as const;
const largestAnswer = 64 * 1024 * 1024;

/** The formats of others that the runtime itself speaks below /v1 (contract §2.3). */
export function commonRoutes(options: RelayCallOptions) {
  const toRelayedCall = (
    { caller, request, body, bodyText }: RouteInput,
    settings: Pick<RelayedCall, "path" | "index" | "wire" | "fill">,
  ): RelayedCall => ({
    caller,
    request,
    body,
    text: bodyText,
    modelId: body.model,
    isStream: body["stream"] === true,
    ...settings,
  });
  const completions = (input: RouteInput, index?: number) =>
    relayCall(options, toRelayedCall(input, { path: "/v1/completions", wire: "events", index }));
  const fill: Fill = (body, saved) => fillSaved(body as z.output<typeof Chat>, saved);
  const chat = (input: RouteInput, index?: number) =>
    relayCall(options, toRelayedCall(input, { path: "/v1/chat/completions", wire: "events", index, fill }));
  const messages = (input: RouteInput, index?: number) =>
    relayCall(
      options,
      toRelayedCall(input, { path: "/v1/messages", wire: "vendor", index, fill: withSystemBlocks }),
    );
  const embeddings = async (input: RouteInput, index?: number) => {
    const relayed = toRelayedCall(input, { path: "/v1/embeddings", wire: "events", index });
    const sent = await send(options, relayed);
    const answered = await relayAnswer(sent.upstream, { ...relayed, isStream: false, prefix: sent.prefix });
    if (input.body["encoding_format"] !== "base64" || !("upstream" in answered)) {
      return answered;
    }
    // Older runtimes answer in numbers whatever was asked for.
    const text = await readText(answered.upstream.body, largestAnswer, input.request.signal);
    return reply(packVectors(text), { headers: { "content-type": "application/json" } });
  };

  const paths = {
    completions: { ...declared, errors: "compat", summary: "Complete a text", body: Completion },
    chat: { ...declared, errors: "compat", summary: "Chat in the common format", body: Chat },
    messages: { ...declared, errors: "message", summary: "Chat in the vendor's format", body: Messages },
    embeddings: {
      ...declared,
      errors: "compat",
      summary: "Embed in the common format",
      body: EmbeddingsRequest,
    },
  } as const;
  return [
    defineRoute({ ...paths.completions, path: "/v1/completions" }, (input) => completions(input)),
    defineRoute({ ...paths.completions, path: "/v1/completions/:idx", params: Index }, (input) =>
      completions(input, input.params.idx),
    ),
    defineRoute({ ...paths.chat, path: "/v1/chat/completions" }, (input) => chat(input)),
    defineRoute({ ...paths.chat, path: "/v1/chat/completions/:idx", params: Index }, (input) =>
      chat(input, input.params.idx),
    ),
    defineRoute({ ...paths.messages, path: "/v1/messages" }, (input) => messages(input)),
    defineRoute({ ...paths.messages, path: "/v1/messages/:idx", params: Index }, (input) =>
      messages(input, input.params.idx),
    ),
    defineRoute({ ...paths.embeddings, path: "/v1/embeddings" }, (input) => embeddings(input)),
    defineRoute({ ...paths.embeddings, path: "/v1/embeddings/:idx", params: Index }, (input) =>
      embeddings(input, input.params.idx),
    ),
  ] as const;
}
