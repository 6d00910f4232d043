import type { Message } from "#kernel/completion/request.ts";
import { reasoningModel } from "../completions/request.ts";
import { toInput } from "./input.ts";

type Body = Record<string, unknown>;

/** Parameters of chat completions that the Responses format has no room for. */
const unknownThere = new Set([
  "messages",
  "max_tokens",
  "max_completion_tokens",
  "response_format",
  "reasoning_effort",
  "verbosity",
  "stream_options",
  "n",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "logit_bias",
  "logprobs",
  "modalities",
  "audio",
  "prediction",
  "functions",
  "function_call",
  "options",
]);

/** Have the provider remember things or answer later: the connection's settings may ask for that, no caller. */
const remembering = new Set(["store", "conversation", "prompt", "background"]);

export interface ResponsesBodyOptions {
  /** Parameters of the connection. */
  readonly extraParams: Readonly<Body>;
  /** ENABLE_RESPONSES_API_STATEFUL. */
  readonly isStateful: boolean;
}

/**
 * The body of a chat completion for an upstream of the Responses format (contract §2.3). Nothing is stored there:
 * every call brings its whole conversation.
 */
export function toResponsesBody(
  chat: Readonly<Body>,
  { extraParams, isStateful }: ResponsesBodyOptions,
): Body {
  const body: Body = { store: false };
  for (const name of new Set([...Object.keys(chat), ...remembering])) {
    const value = (remembering.has(name) ? extraParams : chat)[name];
    const isKnown = !unknownThere.has(name) && (isStateful || name !== "previous_response_id");
    if (isKnown && value !== undefined && value !== null) {
      body[name] = value;
    }
  }
  const { instructions, input } = toInput((chat["messages"] ?? []) as Message[]);
  body["input"] = input;
  if (instructions !== undefined) {
    body["instructions"] = instructions;
  }
  const limit = chat["max_completion_tokens"] ?? chat["max_tokens"];
  if (typeof limit === "number") {
    body["max_output_tokens"] = limit;
  }
  if (typeof chat["reasoning_effort"] === "string") {
    body["reasoning"] = { ...toBag(chat["reasoning"]), effort: chat["reasoning_effort"] };
  }
  if (body["store"] === false && reasoningModel.test(String(chat["model"]))) {
    // Nothing is kept there, so what the model thought has to go along from round to round; others refuse the wish.
    body["include"] ??= ["reasoning.encrypted_content"];
  }
  const text = toTextSettings(chat);
  if (text !== undefined) {
    body["text"] = text;
  }
  return withTools(body);
}

function withTools(body: Body): Body {
  const { tools, tool_choice: choice } = body;
  if (Array.isArray(tools)) {
    body["tools"] = tools.map((tool: Body) => {
      const declared = tool["function"];
      // Functions are not strict unless somebody says so; in this format they would be.
      return tool["type"] === "function" && declared !== undefined
        ? { type: "function", strict: false, ...toBag(declared) }
        : tool;
    });
  }
  const called = toBag(choice)["function"];
  if (called !== undefined) {
    body["tool_choice"] = { type: "function", name: toBag(called)["name"] };
  }
  return body;
}

function toTextSettings({ response_format: format, verbosity, text }: Readonly<Body>): Body | undefined {
  const wanted = toBag(format);
  const settings: Body = { ...toBag(text) };
  if (wanted["type"] === "json_schema") {
    settings["format"] = { type: "json_schema", ...toBag(wanted["json_schema"]) };
  } else if (typeof wanted["type"] === "string") {
    settings["format"] = wanted;
  }
  if (typeof verbosity === "string") {
    settings["verbosity"] = verbosity;
  }
  return Object.keys(settings).length > 0 ? settings : undefined;
}

function toBag(value: unknown): Body {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Body) : {};
}
