import type { Readable } from "node:stream";
import { z } from "zod";
import { defineRoute, stream, type Upstream } from "#kernel/http/route.ts";
import { toUpstreamError } from "#kernel/upstream/failure.ts";
import { namesModelOnce, withModel } from "#kernel/upstream/model-key.ts";
import { type CompatOptions, passOn, requireOwn, toContext } from "./compat-routes.ts";
import { SseParser } from "./stream-parse.ts";

export interface ResponsesOptions extends CompatOptions {
  /** ENABLE_RESPONSES_API_STATEFUL. */
  isStateful(): boolean;
}

const ResponsesBody = z.looseObject({
  model: z.string().min(1).max(1024),
  stream: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
});

const largestEvent = 16 * 1024 * 1024;

/** Passes the Responses format on to providers that have it: the same models, access and prefixes as chat completions. */
export function responsesRoute({ provider, models, isStateful }: ResponsesOptions) {
  return defineRoute(
    {
      method: "POST",
      path: "/responses",
      summary: "Pass a request of the Responses format on to its provider",
      access: "user",
      body: ResponsesBody,
      fails: [404, 429, 502, 504],
    },
    async ({ body, bodyText, caller, request }) => {
      const { target } = requireOwn(await models.resolve(caller, body.model), provider);
      const isStream = body.stream === true;
      const forgets = body.previous_response_id !== undefined && !isStateful();
      const isUnchanged =
        body.model === target.upstreamId && !forgets && namesModelOnce(bodyText as string, body);
      const { previous_response_id: previous, ...rest } = body;
      const kept = forgets || previous === undefined ? rest : { ...rest, previous_response_id: previous };
      const text = isUnchanged ? (bodyText as string) : JSON.stringify(withModel(kept, target.upstreamId));
      const call = { target, body: text, isStream, context: toContext(caller, request) };
      const { prefix } = target.connection;
      if (!isStream) {
        return passOn(await provider.post("/responses", call), false, request.id);
      }
      const upstream = await provider.send("/responses", call);
      const comesAsStream = String(upstream.headers["content-type"] ?? "").includes("event-stream");
      return prefix === "" || !comesAsStream
        ? passOn(upstream, comesAsStream, request.id)
        : stream(withPrefix(upstream, prefix, request.signal));
    },
  );
}

/** The events with the public id in the `model` field of the response they carry (contract D.14). */
async function* withPrefix({ body }: Upstream, prefix: string, signal: AbortSignal): AsyncGenerator<string> {
  const parser = new SseParser({ hardLimit: largestEvent });
  try {
    for await (const piece of body as Readable & AsyncIterable<Buffer>) {
      parser.push(piece);
      yield* takeFrames(parser, prefix);
    }
  } catch (error) {
    throw toUpstreamError(error, signal);
  }
  parser.end();
  yield* takeFrames(parser, prefix);
}

function* takeFrames(parser: SseParser, prefix: string): Generator<string> {
  while (parser.hasMore) {
    const frames = parser.take(64).map(({ data, name }) => {
      const lines = rename(data, prefix)
        .split("\n")
        .map((line) => `data: ${line}\n`);
      return `${name === "" ? "" : `event: ${name}\n`}${lines.join("")}\n`;
    });
    yield frames.join("");
  }
}

function rename(data: string, prefix: string): string {
  try {
    const event = JSON.parse(data) as { response?: { model?: unknown } } | null;
    if (typeof event?.response?.model !== "string") {
      return data;
    }
    event.response.model = `${prefix}.${event.response.model}`;
    return JSON.stringify(event);
  } catch {
    return data;
  }
}
