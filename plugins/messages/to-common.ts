import { type CompletionRequest, platformKeys } from "#kernel/completion/request.ts";
import { validate } from "#kernel/http/validate.ts";
import { toEffort } from "./effort.ts";
import { TranslatedRequest } from "./schema.ts";
import { toMessages } from "./to-messages.ts";
import { toTools } from "./to-tools.ts";

export interface ToCommonOptions {
  /** Parameters outside the standard conversion that the connection passes on. Rule 4. */
  readonly passthrough: readonly string[] | "*";
  /** Told of tools that only the vendor itself could run. */
  dropped(type: string): void;
}

/**
 * The request in the common format. Core API, vendor messages rules 2 and 4. Throws `unprocessable`, which names the
 * field, for what cannot be translated.
 */
export function toCommon(body: unknown, { passthrough, dropped }: ToCommonOptions): CompletionRequest {
  const request = validate(TranslatedRequest, body, "body") as TranslatedRequest;
  const { model, max_tokens, stop_sequences: stops, output_config: output } = request;
  const effort = toEffort(request);
  const format = output?.format;
  return {
    ...toPassed(request, passthrough),
    model,
    messages: toMessages(request.system, request.messages, { reasoningKey: toReasoningKey(passthrough) }),
    max_tokens,
    ...(typeof request.stream === "boolean" && { stream: request.stream }),
    ...(stops && stops.length > 0 && { stop: stops }),
    ...(isNumber(request.temperature) && { temperature: request.temperature }),
    ...(isNumber(request.top_p) && { top_p: request.top_p }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(format && { response_format: toResponseFormat(format) }),
    ...toTools(request, dropped),
  } as CompletionRequest;
}

type Format = NonNullable<NonNullable<TranslatedRequest["output_config"]>["format"]>;

function toResponseFormat(format: Format): Record<string, unknown> {
  return format.type === "json_object"
    ? { type: "json_object" }
    : {
        type: "json_schema",
        json_schema: { name: format.name || "response", schema: format.schema, strict: true },
      };
}

/** Never passed: what is translated, and what would steer this platform instead of the model. */
const kept = new Set([
  ...Object.keys(TranslatedRequest.shape),
  ...platformKeys,
  "metadata",
  "stream_options",
]);

function toPassed(request: TranslatedRequest, passthrough: ToCommonOptions["passthrough"]) {
  const isPassed = (name: string) => !kept.has(name) && (passthrough === "*" || passthrough.includes(name));
  return Object.fromEntries(Object.entries(request).filter(([name]) => isPassed(name)));
}

/** Upstreams disagree on the key for earlier reasoning, and some refuse it: the connection has to list it. */
function toReasoningKey(passthrough: ToCommonOptions["passthrough"]): string | undefined {
  return passthrough === "*"
    ? "reasoning_content"
    : ["reasoning_content", "reasoning"].find((name) => passthrough.includes(name));
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}
