import type { ChunkBatch, CompletionCall, ModelProvider } from "#kernel/completion/provider.ts";
import { createHead, toChunks, toCompletion } from "#plugins/completions/service.ts";
import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { createArrivals } from "./arrivals.ts";

export interface DirectProviderParts {
  readonly hub: Pick<Hub, "ask" | "channel">;
  /** Seconds a stream may be silent; null for as long as it likes. */
  idleTimeout(): number | null;
}

/** The model as the client described it, and the session that is to ask it. */
export interface DirectCall {
  readonly item: Readonly<Record<string, unknown>>;
  readonly sessionId: string;
}

type Answer = Readonly<Record<string, unknown>>;

/**
 * Has an open client ask its own upstream (contract §2.3, §3.3): the event `request:chat:completion` with `{form_data,
 * model, channel, session_id}`. A whole answer is the acknowledgement; for a stream the client acknowledges with
 * `{status: true}` and emits what it reads on `channel`, at the end `{done: true}`. `{error}` refuses either.
 */
export function createDirectProvider(parts: DirectProviderParts, direct: DirectCall): ModelProvider {
  return {
    id: "direct-connections",
    models: () => [],
    async complete(call) {
      const { principal, signal } = call;
      const head = createHead(call.model.id);
      const place = { userId: principal.userId, sessionId: direct.sessionId };
      const arrived = createArrivals(parts.idleTimeout);
      const channel = parts.hub.channel(place, arrived);
      const close = () => channel.close();
      try {
        const payload = toPayload(call, direct, channel.name);
        const answer = toAnswer(await parts.hub.ask({ ...place, event: "events", payload }, { signal }));
        if (call.request.stream !== true) {
          close();
          return { kind: "whole", completion: await toCompletion(once(answer as Json), head) };
        }
        if (answer["status"] !== true) {
          throw new AppError("upstream", "The client did not begin to answer.");
        }
      } catch (error) {
        close();
        throw error;
      }
      const abort = () => {
        arrived.fail(signal.reason);
        close();
      };
      signal.addEventListener("abort", abort, { once: true });
      const chunks = closing(toChunks(arrived, head), () => {
        signal.removeEventListener("abort", abort);
        close();
      });
      return { kind: "stream", stream: { raw: undefined, chunks: () => chunks } };
    },
  };
}

function toPayload({ request, chatId, messageId }: CompletionCall, direct: DirectCall, channel: string) {
  const { metadata: _notes, ...form } = request;
  const data = { form_data: form, model: direct.item, channel, session_id: direct.sessionId };
  return toEnvelope({ type: "request:chat:completion", data }, { chatId, messageId });
}

/** Throws `upstream` for what is no answer, or says that there is none. */
function toAnswer(value: unknown): Answer {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("upstream", "The client gave no answer that can be read.");
  }
  const answer = value as Answer;
  if (answer["error"] || answer["status"] === false) {
    throw new AppError(
      "upstream",
      toText(answer["error"] ?? answer["detail"]) ?? "The client could not ask the model.",
    );
  }
  return answer;
}

function toText(error: unknown): string | undefined {
  const { message, detail } = Object(error) as { message?: unknown; detail?: unknown };
  const text = [error, message, detail].find((one) => typeof one === "string" && one !== "");
  return (text as string | undefined)?.slice(0, 4000);
}

async function* once(item: Json): AsyncGenerator<Json> {
  yield item;
}

async function* closing(chunks: AsyncGenerator<ChunkBatch>, close: () => void): AsyncGenerator<ChunkBatch> {
  try {
    yield* chunks;
  } finally {
    close();
  }
}
