import { Readable } from "node:stream";
import { type JsonObject, toObject } from "#config/json-values.ts";
import { toBase64 } from "#kernel/upstream/pack-vectors.ts";
import type { EmbeddingsRequest } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { toKeepAlive } from "./settings.ts";
import { requireNoError } from "../reply/reply.ts";

/** Fields beside the input that both formats know or that are the runtime's own. */
const sameFields = ["dimensions", "truncate", "options"] as const;

/** The runtime's own embed request for a common one, but for the model. Throws `invalid` for input in tokens. */
export function toNativeEmbed(request: EmbeddingsRequest): Record<string, unknown> {
  const { input } = request;
  if (typeof input !== "string" && input.some((each) => typeof each !== "string")) {
    throw new AppError("invalid", "input: the runtime embeds texts, not tokens.");
  }
  const same = sameFields.map((name) => [name, request[name]] as const);
  const fields = [...same, ["keep_alive", toKeepAlive(request["keep_alive"])] as const];
  return {
    input,
    ...Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== null)),
  };
}

/** The runtime's embeddings in the common format. Throws AppError `upstream` for anything else. */
export function fromNativeEmbed(text: string, model: string, format: unknown): Record<string, unknown> {
  const answer = parse(text);
  requireNoError(answer);
  const { embeddings, prompt_eval_count: count } = answer;
  if (!Array.isArray(embeddings) || !embeddings.every(isVector)) {
    throw new AppError("upstream", "The runtime's answer holds no embeddings.");
  }
  const tokens = typeof count === "number" && Number.isFinite(count) ? Math.trunc(count) : 0;
  return {
    object: "list",
    model,
    data: embeddings.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: format === "base64" ? toBase64(vector) : vector,
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** A made-up body as an upstream's answer. */
export function toUpstream(body: string): Upstream {
  const headers = { "content-type": "application/json" };
  return { status: 200, headers, body: Readable.from([Buffer.from(body)]) };
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((each) => typeof each === "number");
}

function parse(text: string): JsonObject {
  try {
    return toObject(JSON.parse(text));
  } catch (error) {
    throw new AppError("upstream", "The runtime's answer is not valid JSON.", { cause: error });
  }
}
