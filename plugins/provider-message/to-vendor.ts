import type { CompletionRequest } from "#kernel/completion/request.ts";
import { type ModelFacts, planThinking } from "./thinking.ts";
import { lacksThoughts, toConversation, type VendorConversation } from "./to-messages.ts";
import { toVendorTools } from "./to-tools.ts";

export interface ToVendorOptions {
  readonly upstreamId: string;
  readonly facts: ModelFacts;
  /** Parameters that every request of the connection gets unless it has them. */
  readonly extraParams: Readonly<Record<string, unknown>>;
  /** Further parameters that are passed on; `*` for all. */
  readonly passthrough: readonly string[] | "*";
}

/** Tokens of an answer where neither the caller nor the vendor's list sets a limit: the format demands one. */
const defaultLimit = 8192;
/** A model's own limit may be more than anybody wants to wait for. */
const largestDefault = 32_768;

/** Parameters of the format itself that callers of the common wire may set too. */
const own = ["top_k", "thinking", "container", "context_management", "mcp_servers", "cache_control", "speed"];

/** Parameters of the common format that are translated, or mean nothing here. */
const common = new Set(
  (
    "model messages stream tools tool_choice parallel_tool_calls stop response_format max_tokens " +
    "max_completion_tokens reasoning_effort temperature top_p metadata user stream_options n seed logit_bias " +
    "logprobs top_logprobs frequency_penalty presence_penalty options store modalities output_config service_tier"
  ).split(" "),
);

/** A completion request in the vendor's message format. Throws `invalid`, which names the place, for what has no counterpart. */
export function toVendor(request: CompletionRequest, options: ToVendorOptions): Record<string, unknown> {
  const conversation = withFormatHint(toConversation(request.messages), request);
  const tools = toVendorTools(request);
  const callerLimit = toNumber(request["max_completion_tokens"]) ?? toNumber(request.max_tokens);
  const given = callerLimit ?? toNumber(options.extraParams["max_tokens"]);
  const limit = given ?? toNumber(options.facts.max_tokens);
  // A limit that the caller did not choose leaves as much for the answer as for the thoughts.
  const room = callerLimit ?? (limit === undefined ? undefined : Math.floor(limit / 2) + 1);
  const thinking = toThinking(request, { ...options, conversation, tools, limit: room });
  const isThinking = ["enabled", "adaptive"].includes(String(thinking.thinking?.type));
  const stops = [request.stop ?? []].flat().filter((stop) => stop.trim() !== "");
  const outputConfig = toOutputConfig(request, thinking.effort);
  return {
    ...options.extraParams,
    ...toPassed(request, options.passthrough),
    model: options.upstreamId,
    max_tokens: given ?? toLimit(options.facts, thinking.thinking?.budget_tokens),
    ...(conversation.system.length > 0 && { system: conversation.system }),
    messages: conversation.messages,
    ...(request.stream === true && { stream: true }),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...(isThinking ? {} : toSampling(request)),
    ...tools,
    ...(thinking.thinking && { thinking: thinking.thinking }),
    ...(outputConfig && { output_config: outputConfig }),
    ...(typeof request["user"] === "string" && { metadata: { user_id: request["user"] } }),
  };
}

/** Temperatures go up to 2 on the common wire, to 1 here; a model that thinks takes none at all. */
function toSampling({ temperature, top_p: topP }: CompletionRequest): Record<string, unknown> {
  return {
    ...(typeof temperature === "number" && { temperature: Math.min(temperature, 1) }),
    ...(typeof topP === "number" && { top_p: topP }),
  };
}

interface Planned extends ToVendorOptions {
  readonly conversation: VendorConversation;
  readonly tools: Record<string, unknown>;
  readonly limit: number | undefined;
}

interface Thinking {
  readonly thinking?: { type: string; budget_tokens?: number };
  readonly effort?: string;
}

function toThinking(request: CompletionRequest, { facts, conversation, tools, limit }: Planned): Thinking {
  if (typeof request["thinking"] === "object" && request["thinking"] !== null) {
    return { thinking: request["thinking"] as { type: string } };
  }
  if (!request.reasoning_effort) {
    return {};
  }
  const plan = planThinking({ effort: request.reasoning_effort, facts, limit });
  const choice = (tools["tool_choice"] as { type?: string } | undefined)?.type;
  // A model that has to call a tool may not think first, nor one whose earlier thoughts are lost.
  const isBarred = choice === "any" || choice === "tool" || lacksThoughts(conversation.messages);
  return isBarred && plan.thinking?.type === "enabled"
    ? { ...(plan.effort && { effort: plan.effort }) }
    : plan;
}

function toOutputConfig(request: CompletionRequest, effort: string | undefined) {
  const given = request["output_config"];
  if (typeof given === "object" && given !== null) {
    return given;
  }
  const schema = (request.response_format?.["json_schema"] as { schema?: unknown } | undefined)?.schema;
  const format =
    request.response_format?.["type"] === "json_schema" && schema
      ? { type: "json_schema", schema }
      : undefined;
  return effort || format ? { ...(effort && { effort }), ...(format && { format }) } : undefined;
}

/** The format knows schemas but no free JSON: an instruction asks for it. */
function withFormatHint(conversation: VendorConversation, { response_format: format }: CompletionRequest) {
  return format?.["type"] === "json_object"
    ? {
        ...conversation,
        system: [
          ...conversation.system,
          { type: "text", text: "Answer with one JSON object and nothing else." },
        ],
      }
    : conversation;
}

function toLimit({ max_tokens: listed }: ModelFacts, budget = 0): number {
  const most = toNumber(listed);
  return most === undefined ? defaultLimit + budget : Math.min(most, largestDefault + budget);
}

function toPassed(request: CompletionRequest, passthrough: ToVendorOptions["passthrough"]) {
  const isPassed = (name: string) =>
    !common.has(name) && (own.includes(name) || passthrough === "*" || passthrough.includes(name));
  return Object.fromEntries(
    Object.entries(request).filter(
      ([name, value]) => isPassed(name) && value !== undefined && value !== null,
    ),
  );
}

function toNumber(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}
