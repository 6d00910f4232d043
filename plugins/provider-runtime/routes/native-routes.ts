import { z } from "zod";
import { defineRoute, type RequestInfo } from "#kernel/http/route.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { fillNative } from "../request/fill-native.ts";
import { relayCall, type RelayCallOptions } from "./relay-call.ts";
import { Index } from "./indexed.ts";

const model = z.string().min(1).max(1024);
const shared = { model, stream: z.boolean().nullish(), options: z.record(z.string(), z.unknown()).nullish() };

const Generate = z.looseObject({ ...shared, prompt: z.string().nullish(), system: z.string().nullish() });
const Chat = z.looseObject({
  ...shared,
  messages: z.array(z.looseObject({ role: z.string(), content: z.string().nullish() })).nullish(),
});
const Embed = z.looseObject({ model, input: z.union([z.string(), z.array(z.string())]) });
const Embeddings = z.looseObject({ model, prompt: z.string().nullish() });
const Show = z
  .looseObject({ model: model.nullish(), name: model.nullish() })
  .refine((body) => body.model ?? body.name, {
    path: ["model"],
    message: "Required",
  });

/** One request of a route below, with or without the index of a backend. */
interface RouteInput {
  readonly caller: Principal;
  readonly request: RequestInfo;
  readonly bodyText: string | undefined;
  readonly body: Readonly<Record<string, unknown>> & { readonly model: string };
}

const declared = { access: "user", fails: [404, 429, 502, 503, 504] } as const;

/** The runtime's own routes that name a model (Core API, Local model runtime pass-through; contract §2.3). */
export function nativeRoutes(options: RelayCallOptions) {
  const passOn =
    (path: string, settings: { streams: boolean; fills?: "chat" | "generate" }) =>
    ({ caller, request, body, bodyText }: RouteInput, index?: number) => {
      const { streams, fills } = settings;
      return relayCall(options, {
        caller,
        request,
        body,
        text: bodyText,
        modelId: body.model,
        index,
        path,
        wire: "lines",
        isStream: streams && body["stream"] !== false,
        ...(fills && { fill: (given, saved) => fillNative(given, saved, fills) }),
        // A raw prompt is answered as the model writes.
        thinking: body["raw"] === true ? undefined : fills,
      });
    };
  const generate = passOn("/api/generate", { streams: true, fills: "generate" });
  const chat = passOn("/api/chat", { streams: true, fills: "chat" });
  const embed = passOn("/api/embed", { streams: false });
  const embeddings = passOn("/api/embeddings", { streams: false });
  const show = passOn("/api/show", { streams: false });

  const paths = {
    generate: { ...declared, method: "POST", summary: "Generate text", body: Generate, produces: ndjson },
    chat: { ...declared, method: "POST", summary: "Chat", body: Chat, produces: ndjson },
    embed: { ...declared, method: "POST", summary: "Embed texts", body: Embed },
    embeddings: { ...declared, method: "POST", summary: "Embed one text", body: Embeddings },
  } as const;
  return [
    defineRoute({ ...paths.generate, path: "/api/generate" }, (input) => generate(input)),
    defineRoute({ ...paths.generate, path: "/api/generate/:idx", params: Index }, (input) =>
      generate(input, input.params.idx),
    ),
    defineRoute({ ...paths.chat, path: "/api/chat" }, (input) => chat(input)),
    defineRoute({ ...paths.chat, path: "/api/chat/:idx", params: Index }, (input) =>
      chat(input, input.params.idx),
    ),
    defineRoute({ ...paths.embed, path: "/api/embed" }, (input) => embed(input)),
    defineRoute({ ...paths.embed, path: "/api/embed/:idx", params: Index }, (input) =>
      embed(input, input.params.idx),
    ),
    defineRoute({ ...paths.embeddings, path: "/api/embeddings" }, (input) => embeddings(input)),
    defineRoute({ ...paths.embeddings, path: "/api/embeddings/:idx", params: Index }, (input) =>
      embeddings(input, input.params.idx),
    ),
    defineRoute(
      { ...declared, method: "POST", path: "/api/show", summary: "Show a model's details", body: Show },
      ({ body: { name, ...rest }, ...input }) =>
        // A body with two names for the model must not reach one whose access was not checked.
        show({ ...input, bodyText: undefined, body: { ...rest, model: rest.model ?? name ?? "" } }),
    ),
  ] as const;
}

const ndjson = "application/x-ndjson";
