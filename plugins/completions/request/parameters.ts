import { type CompletionRequest, platformKeys } from "#kernel/completion/request.ts";
import { toCustomValue } from "#plugins/models/service.ts";

type Bag = Readonly<Record<string, unknown>>;

/**
 * Saved parameters that steer the platform and never reach a provider (contract 2.2), and keys that are for a request
 * alone: its chat, tools and terminal are checked before saved parameters are filled in. Core API, chat completion
 * rules 1 and 13.
 */
const platformParameters = new Set([
  ...platformKeys,
  "stream_response",
  "stream_delta_chunk_size",
  "function_calling",
  "reasoning_tags",
  "compact_token_threshold",
  "system",
  "note_id",
  "model_controls",
  "custom_params",
]);

/** Sampling parameters that clients send in `params` instead of beside it. */
const sampling = [
  "temperature",
  "max_tokens",
  "top_p",
  "top_k",
  "min_p",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "stop",
  "reasoning_effort",
  "response_format",
  "logit_bias",
  "options",
] as const;

// A request that nothing has to be done to comes back as the same object: its text can then be sent as it came.

/** The request with the sampling parameters of its own `params`, where it says nothing beside them. */
export function withOwnParams(request: CompletionRequest): CompletionRequest {
  const { params } = request;
  const own = Object.fromEntries(
    sampling.filter((name) => !isAbsent(params?.[name])).map((name) => [name, params?.[name]]),
  );
  return Object.keys(own).length === 0 ? request : fillRequest(request, own);
}

/**
 * Fills what the request left out from the model's saved parameters (instance defaults are filled into those
 * already). Core API, chat completion rule 7: what the caller sent is kept.
 */
export function fillRequest(request: CompletionRequest, saved: Bag): CompletionRequest {
  const missing = Object.entries(saved).filter(
    ([name, value]) => !platformParameters.has(name) && value !== null && isAbsent(request[name]),
  );
  const filled = missing.length === 0 ? request : { ...request, ...Object.fromEntries(missing) };
  const merged = isBag(saved["options"]) ? { ...filled, ...fillOptions(request, saved["options"]) } : filled;
  return mergeCustom(merged, saved["custom_params"]) as CompletionRequest;
}

/** Saved options of the local runtime, but for those that the request says itself, among its options or beside them. */
function fillOptions(request: CompletionRequest, saved: Bag): { options: Bag | undefined } {
  const limit = request["max_completion_tokens"] ?? request.max_tokens;
  const left = Object.entries(saved).filter(([name]) =>
    isAbsent(name === "num_predict" ? (limit ?? request[name]) : request[name]),
  );
  const options = { ...Object.fromEntries(left), ...request.options };
  return { options: Object.keys(options).length > 0 ? options : undefined };
}

/** Saved parameters but for some, custom ones included. */
export function without(saved: Bag, names: readonly string[]): Bag {
  const keep = (bag: Bag) =>
    Object.fromEntries(Object.entries(bag).filter(([name]) => !names.includes(name)));
  const custom = saved["custom_params"];
  return { ...keep(saved), ...(isBag(custom) && { custom_params: keep(custom) }) };
}

/** Takes out what is meant for the platform. */
export function toProviderRequest(request: CompletionRequest): CompletionRequest {
  const keys = Object.keys(request);
  if (!keys.some((key) => platformKeys.has(key))) {
    return request;
  }
  const kept = keys.filter((key) => !platformKeys.has(key)).map((key) => [key, request[key]] as const);
  return Object.fromEntries(kept) as CompletionRequest;
}

/**
 * Asks for usage on streams. Core API, chat completion rule 9: with the Usage capability include_usage is added,
 * and forced to true where the caller sent stream_options; requests that do not stream are untouched.
 */
export function withUsage(request: CompletionRequest, hasUsageCapability: boolean): CompletionRequest {
  if (!hasUsageCapability || request.stream !== true) {
    return request;
  }
  return { ...request, stream_options: { ...request.stream_options, include_usage: true } };
}

/** Custom parameters come last and are merged deeply; a value that is JSON text counts as what it says. */
function mergeCustom(request: Record<string, unknown>, custom: unknown): Record<string, unknown> {
  if (!isBag(custom)) {
    return request;
  }
  const merged = { ...request };
  for (const [name, value] of Object.entries(custom)) {
    if (platformKeys.has(name)) {
      continue;
    }
    if (isAbsent(request[name])) {
      merged[name] = toCustomValue(value);
    } else if (isBag(request[name]) && isBag(toCustomValue(value))) {
      merged[name] = mergeDeep(toCustomValue(value) as Bag, request[name]);
    }
  }
  return merged;
}

/** `over` wins; objects are merged key by key. */
function mergeDeep(base: Bag, over: Bag): Bag {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isBag(below) && isBag(value) ? mergeDeep(below, value) : value;
  }
  return merged;
}

function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
