import type { MessageSupport } from "#kernel/completion/provider.ts";
import { type CompletionRequest, platformKeys } from "#kernel/completion/request.ts";
import type { CallLabels } from "../call-labels.ts";
import type { Documents } from "./documents.ts";
import { isThinkingOff, toEffort } from "./effort.ts";
import { TranslatedRequest } from "../schema.ts";
import { toMessages } from "./to-messages.ts";
import { toTools } from "./to-tools.ts";

export interface ToCommonOptions {
  readonly support: Pick<MessageSupport, "passthroughParams" | "reasoningKey" | "thinkingOff"> | undefined;
  /** The documents that the request names by address. */
  readonly documents: Documents;
  readonly labels: CallLabels;
  /** Called for tools that only the vendor itself could run. */
  dropped(type: string): void;
}

/**
 * The request in the common format. Core API, vendor messages rules 2 and 4. Throws `unprocessable`, which names the
 * field, for what cannot be translated.
 */
export function toCommon(
  request: TranslatedRequest,
  { support, documents, labels, dropped }: ToCommonOptions,
): CompletionRequest {
  const passthrough = support?.passthroughParams ?? [];
  const reasoningKey = support?.reasoningKey ?? toReasoningKey(passthrough);
  const { model, max_tokens, stop_sequences: stops, output_config: output } = request;
  const effort = toEffort(request);
  const format = output?.format;
  return {
    ...toUser(request, passthrough),
    ...toPassed(request, passthrough),
    model,
    messages: toMessages(request, { documents, labels, reasoningKey }),
    max_tokens,
    ...(typeof request.stream === "boolean" && { stream: request.stream }),
    ...(stops && stops.length > 0 && { stop: stops }),
    ...(isNumber(request.temperature) && { temperature: request.temperature }),
    ...(isNumber(request.top_p) && { top_p: request.top_p }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(isThinkingOff(request) && support?.thinkingOff),
    ...(format && { response_format: toResponseFormat(format) }),
    ...toTools(request, { labels, dropped }),
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

/** Keys that are never passed on: they are translated, or would steer this platform instead of the model. */
const ownKeys = new Set([
  ...Object.keys(TranslatedRequest.shape),
  ...platformKeys,
  "metadata",
  "stream_options",
]);

function toPassed(request: TranslatedRequest, passthrough: MessageSupport["passthroughParams"]) {
  const isPassed = (name: string) =>
    !ownKeys.has(name) && (passthrough === "*" || passthrough.includes(name));
  return Object.fromEntries(Object.entries(request).filter(([name]) => isPassed(name)));
}

/** The account that the caller answers for, where the connection passes `metadata` on. Contract D.35. */
function toUser(
  request: TranslatedRequest,
  passthrough: MessageSupport["passthroughParams"],
): { user?: string } {
  const user = (request["metadata"] as { user_id?: unknown } | null | undefined)?.user_id;
  const isPassed = passthrough === "*" || passthrough.includes("metadata");
  return isPassed && typeof user === "string" && user !== "" ? { user } : {};
}

/** Upstreams of the common format disagree on the key for earlier reasoning, and some refuse it: it has to be listed. */
function toReasoningKey(passthrough: MessageSupport["passthroughParams"]): string | undefined {
  return passthrough === "*"
    ? "reasoning_content"
    : ["reasoning_content", "reasoning"].find((name) => passthrough.includes(name));
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}
