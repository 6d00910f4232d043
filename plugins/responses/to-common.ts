import type { JsonObject } from "#config/json-values.ts";
import { type CompletionRequest, platformKeys } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import { toFlatName, toCallerTools } from "./caller-tools.ts";
import type { TranslatedRequest, Tool } from "./schema.ts";
import { toMessages } from "./to-messages.ts";

/** Keys that mean something in this format alone; other keys go on as they are. */
const ownKeys = new Set([
  ..."model input instructions stream stream_options previous_response_id tools tool_choice max_output_tokens".split(
    " ",
  ),
  ..."max_tool_calls reasoning text metadata background store include truncation top_logprobs conversation prompt".split(
    " ",
  ),
  ..."context_management prompt_cache_retention client_metadata".split(" "),
]);

/**
 * The chat completion that asks the same; `dropped` is called for tools that have no place there. Throws `invalid`,
 * naming the field, for what no chat completion can do.
 */
export function toCommon(
  request: TranslatedRequest,
  dropped: (type: string) => void = () => {},
): CompletionRequest {
  for (const name of ["background", "conversation", "prompt"]) {
    if (request[name]) {
      throw new AppError("invalid", `${name}: is not supported.`);
    }
  }
  const kept = Object.entries(request).filter(([name]) => !ownKeys.has(name) && !isPlatformKey(name));
  const { tools, choice } = toTools(request, dropped);
  return {
    ...Object.fromEntries(kept),
    model: request.model,
    messages: toMessages(request),
    stream: request.stream === true,
    ...(request.max_output_tokens && { max_tokens: request.max_output_tokens }),
    ...(request.reasoning?.effort && { reasoning_effort: request.reasoning.effort }),
    ...(request.top_logprobs && { logprobs: true, top_logprobs: request.top_logprobs }),
    ...toTextSettings(request.text),
    ...(tools && { tools }),
    ...(choice !== undefined && { tool_choice: choice }),
  };
}

/** Keys of chats do not belong into a request of this format; filters may be chosen as in any other. */
function isPlatformKey(name: string): boolean {
  return platformKeys.has(name) && name !== "filter_ids" && name !== "params";
}

/** The caller's own tools: those that a provider would run on its own servers are left out, as in other formats. */
function toTools(
  request: TranslatedRequest,
  dropped: (type: string) => void,
): { tools?: JsonObject[]; choice?: unknown } {
  const { tools, tool_choice: choice } = request;
  const own = toCallerTools(request, dropped);
  const allowed = typeof choice === "object" && choice?.type === "allowed_tools" ? choice : undefined;
  const names = allowed?.tools ? new Set<unknown>(allowed.tools.map(({ name }) => name)) : undefined;
  const kept = own.filter(({ name }) => names === undefined || names.has(name));
  if (kept.length === 0) {
    // An empty list keeps the platform from offering tools of its own.
    return tools ? { tools: [] } : {};
  }
  return { tools: kept.map(({ tool }, at) => toTool(tool, at)), ...toChoice(choice) };
}

function toTool({ type, ...declared }: Tool, at: number): JsonObject {
  if (typeof declared.name !== "string") {
    throw new AppError("invalid", `tools[${at}].name: is missing.`);
  }
  const entries = Object.entries(type === "custom" ? toFunction(declared) : declared);
  return { type: "function", function: Object.fromEntries(entries.filter(([, value]) => value !== null)) };
}

/** A tool that takes a text, as a function with one field: chat models know nothing else. */
function toFunction({ name, description, format }: JsonObject): JsonObject {
  const { definition, syntax } = (format ?? {}) as JsonObject;
  const rule =
    typeof definition === "string"
      ? `The input has to follow this ${String(syntax)} grammar:\n${definition}`
      : "";
  const words = [description, rule].filter((text) => typeof text === "string" && text !== "");
  const input = { type: "string", description: "The whole input, as plain text" };
  return {
    name,
    ...(words.length > 0 && { description: words.join("\n\n") }),
    parameters: { type: "object", properties: { input }, required: ["input"] },
  };
}

function toChoice(choice: TranslatedRequest["tool_choice"]): { choice?: unknown } {
  if (choice === undefined || choice === null || typeof choice === "string") {
    return choice ? { choice } : {};
  }
  if (choice.type === "function" || choice.type === "custom") {
    const name = toFlatName(String(choice["name"]), choice["namespace"]);
    return { choice: { type: "function", function: { name } } };
  }
  return { choice: choice.type === "allowed_tools" ? (choice["mode"] ?? "auto") : "auto" };
}

function toTextSettings(text: TranslatedRequest["text"]): JsonObject {
  const { type, ...format } = text?.format ?? { type: "text" };
  const settings: Record<string, unknown> = text?.verbosity ? { verbosity: text.verbosity } : {};
  if (type === "json_schema") {
    settings["response_format"] = { type, json_schema: format };
  } else if (type !== "text") {
    settings["response_format"] = { type };
  }
  return settings;
}
