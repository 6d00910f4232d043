import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { mapBatches } from "#kernel/completion/map-batches.ts";
import { CompletionRequest, EmbeddingsRequest } from "#kernel/completion/request.ts";
import { TextDeltaWriter } from "./reply/text-delta.ts";
import { AppError } from "#kernel/errors.ts";
import { toErrorFrame } from "#kernel/http/errors.ts";
import { defineRoute, relay, reply, stream } from "#kernel/http/route.ts";
import type { Completed } from "./reply/completed.ts";
import type { Embeddings } from "./media/embeddings.ts";
import { toIgnoredHeader } from "./request/features.ts";
import { toDelivery } from "./request/mode.ts";
import type { ChatRuns, Completions, OutletListener, RunAnswer } from "./service.ts";

const CompletedRequest = z
  .looseObject({
    model: z.string().min(1),
    messages: z.array(z.looseObject({ role: z.string(), id: z.string().optional() })),
    chat_id: z.string().nullish(),
    session_id: z.string().nullish(),
    id: z.string().nullish(),
    filter_ids: z.array(z.string()).nullish(),
  })
  .meta({ id: "ChatCompletedRequest" });

export interface CompletionRoutesOptions {
  readonly completions: Completions;
  readonly completed: Completed;
  readonly embeddings: Embeddings;
  chatRuns(): readonly ChatRuns[];
  /** Tells a person's clients what outlet filters made of a conversation. */
  toOutletListener(principal: Principal): OutletListener;
}

/** Chat completions, outlet on demand and embeddings (Core API, Chat completion). */
export function completionRoutes(options: CompletionRoutesOptions) {
  const { completions, completed, embeddings, chatRuns } = options;
  const chat = defineRoute(
    {
      method: "POST",
      path: "/api/chat/completions",
      summary: "Run a chat completion",
      access: "user",
      body: CompletionRequest,
      errors: "both",
      idempotent: true,
      fails: [400, 404, 429, 502, 504],
    },
    async ({ body, bodyText, caller, request }) => {
      if (toDelivery(body) !== "http") {
        return startInChat(chatRuns(), body, {
          principal: caller,
          userAgent: request.headers["user-agent"],
          text: bodyText,
        });
      }
      const answer = await completions.run(body, {
        principal: caller,
        signal: request.signal,
        userAgent: request.headers["user-agent"],
        text: bodyText,
        onOutlet: options.toOutletListener(caller),
      });
      return toHttp(answer, request.id);
    },
  );
  const outlet = defineRoute(
    {
      method: "POST",
      path: "/api/chat/completed",
      summary: "Run the outlet filters on a finished conversation",
      // Core API, chat completion rule 14.
      deprecated: "outlet filters run with every completion; this remains the way to their answer over HTTP",
      access: "user",
      body: CompletedRequest,
      fails: [404],
    },
    ({ body, caller, request }) => completed.run(body, { principal: caller, signal: request.signal }),
  );
  const embed = defineRoute(
    {
      method: "POST",
      path: "/api/embeddings",
      summary: "Embed text",
      access: "user",
      body: EmbeddingsRequest,
      errors: "both",
    },
    async ({ body, caller, request }) =>
      relay(
        await embeddings.run(body, {
          principal: caller,
          userAgent: request.headers["user-agent"],
          signal: request.signal,
        }),
      ),
  );
  // Base addresses of clients end with /api or with /api/v1.
  const api = [
    { ...chat, path: "/chat/completions" as const },
    { ...embed, path: "/embeddings" as const },
  ] as const;
  return { main: [chat, outlet, embed], api };
}

async function startInChat(
  runs: readonly ChatRuns[],
  request: CompletionRequest,
  context: Parameters<ChatRuns["start"]>[1],
): Promise<unknown> {
  const [first] = runs;
  if (first === undefined) {
    throw new AppError(
      "unavailable",
      "This deployment does not write replies into chats. Send the request without chat_id, id and session_id.",
    );
  }
  return await first.start(request, context);
}

function toHttp(answer: RunAnswer, requestId: string) {
  const ignored = toIgnoredHeader(answer.ignored);
  if (answer.kind === "whole") {
    return answer.text === undefined
      ? reply(answer.completion, { headers: ignored })
      : reply(answer.text, { headers: { "content-type": "application/json", ...ignored } });
  }
  if (answer.kind === "raw") {
    return relay(answer.upstream, {
      ...(answer.tap && { tap: answer.tap, end: answer.settle }),
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
        ...ignored,
      },
      endsWithDone: true,
      brokenFrame: (error) => `\n\ndata: ${toErrorFrame(error, requestId)}\n\n`,
    });
  }
  return stream(toFrames(answer.chunks()), { headers: ignored });
}

/** One write a batch: chunks that arrived together leave together. */
function toFrames(batches: AsyncIterable<ChunkBatch>): AsyncIterableIterator<string> {
  const writer = new TextDeltaWriter();
  return mapBatches(batches, {
    next(batch: ChunkBatch) {
      let frames = "";
      for (const chunk of batch) {
        frames += `data: ${writer.write(chunk)}\n\n`;
      }
      return frames;
    },
    end: () => "data: [DONE]\n\n",
  });
}
