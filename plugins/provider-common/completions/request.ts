import { type CompletionRequest, platformKeys } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import { withModel } from "#kernel/upstream/model-key.ts";
import type { Target } from "../models/offers.ts";

type Body = Record<string, unknown>;

/** Models that know only `max_completion_tokens` and the developer role, and that seal their thoughts. */
export const reasoningModel = /^(?:o1|o3|o4|gpt-5)/i;

/** The upstream's request body for a chat completion: everything the caller sent, but for what is the platform's own. */
export function toUpstreamBody(request: CompletionRequest, target: Target): Body {
  const body: Body = { ...target.connection.extraParams };
  for (const key in request) {
    if (!platformKeys.has(key) && key !== "metadata" && request[key] !== undefined) {
      body[key] = request[key];
    }
  }
  return adapt(body, target);
}

/** Adapts a body to the model it goes to: its upstream id, how it takes limits and roles, the form of logit_bias. */
export function adapt(given: Body, { connection, upstreamId }: Target): Body {
  const body = withModel(given, upstreamId);
  if (body["logit_bias"] !== undefined && body["logit_bias"] !== null) {
    body["logit_bias"] = toLogitBias(body["logit_bias"]);
  }
  if (reasoningModel.test(upstreamId)) {
    adaptToReasoning(body, upstreamId);
  } else if (!connection.isDefaultHost && !connection.isAzure && isSet(body["max_completion_tokens"])) {
    body["max_tokens"] = body["max_completion_tokens"];
    delete body["max_completion_tokens"];
  }
  if (isSet(body["max_tokens"]) && isSet(body["max_completion_tokens"])) {
    delete body["max_tokens"];
  }
  return body;
}

/** True when `adapt` would change nothing, so that the caller's own bytes can go out. */
export function fitsAsItIs(body: Readonly<Body>, target: Target): boolean {
  return (
    body["model"] === target.upstreamId &&
    typeof body["logit_bias"] !== "string" &&
    !reasoningModel.test(target.upstreamId) &&
    !isSet(body["max_completion_tokens"]) &&
    Object.keys(target.connection.extraParams).length === 0
  );
}

/**
 * Reads `logit_bias` as an object: from JSON, or from the text `token:bias, token:bias`. Throws `invalid` for a text
 * that is neither; biases are kept between -100 and 100.
 */
export function toLogitBias(value: unknown): Record<string, number> {
  const given = typeof value === "string" ? parseBiasText(value) : value;
  const entries = Object.entries((given ?? {}) as Body).map(
    ([token, bias]) => [token, Number(bias)] as const,
  );
  if (typeof given !== "object" || Array.isArray(given) || entries.some(([, bias]) => Number.isNaN(bias))) {
    throw new AppError("invalid", "logit_bias must map tokens to numbers, as JSON or as token:bias pairs.");
  }
  return Object.fromEntries(entries.map(([token, bias]) => [token, Math.max(-100, Math.min(100, bias))]));
}

function parseBiasText(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" ? parsed : Number.NaN;
  } catch {
    const pairs = text.split(",").filter((pair) => pair.trim() !== "");
    return Object.fromEntries(
      pairs.map((pair) => {
        const colon = pair.lastIndexOf(":");
        const bias = pair.slice(colon + 1).trim();
        return [
          pair.slice(0, Math.max(colon, 0)).trim(),
          colon > 0 && bias !== "" ? Number(bias) : Number.NaN,
        ];
      }),
    );
  }
}

function adaptToReasoning(body: Body, model: string): void {
  if (isSet(body["max_tokens"])) {
    body["max_completion_tokens"] ??= body["max_tokens"];
    delete body["max_tokens"];
  }
  const { messages } = body as { messages?: { role?: string }[] };
  if (Array.isArray(messages) && messages[0]?.role === "system") {
    // The first preview models take no instructions of their own kind at all.
    const role = /^o1-(?:mini|preview)/i.test(model) ? "user" : "developer";
    body["messages"] = [{ ...messages[0], role }, ...messages.slice(1)];
  }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
