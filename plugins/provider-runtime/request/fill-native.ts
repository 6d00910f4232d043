import { type JsonObject, toObject } from "#config/json-values.ts";
import { toCustomValue } from "#plugins/models/service.ts";
import { isOption, toOptions } from "./options.ts";
import { toSettings } from "./settings.ts";

/**
 * A native chat or generate request with the model's saved parameters where it left them out, and its system prompt
 * ahead of the caller's; the very same object when there is nothing to fill in. Core API, chat completion rule 7.
 */
export function fillNative<B extends JsonObject>(body: B, saved: JsonObject, kind: "chat" | "generate"): B {
  const all = withCustom(saved);
  const given = toObject(body["options"]);
  const options = Object.entries(toOptions(all)).filter(([name]) => !isSet(given[name]));
  const settings = Object.entries(toSettings(all)).filter(([name]) => !isSet(body[name]));
  const fills: Record<string, unknown> = {
    ...Object.fromEntries(settings),
    ...(options.length > 0 && { options: { ...Object.fromEntries(options), ...given } }),
    ...withSystem(body, saved["system"], kind),
  };
  return Object.keys(fills).length === 0 ? body : { ...body, ...fills };
}

/** Custom parameters count like the others; those that no field has go into `options`. */
function withCustom(saved: JsonObject): JsonObject {
  const custom = Object.entries(toObject(saved["custom_params"])).map(
    ([name, value]) => [name, toCustomValue(value)] as const,
  );
  const isField = (name: string) => isOption(name) || fields.has(name);
  return {
    ...Object.fromEntries(custom.filter(([name]) => isField(name))),
    ...saved,
    options: {
      ...Object.fromEntries(custom.filter(([name]) => !isField(name))),
      ...toObject(saved["options"]),
    },
  };
}

/** Keys that `toSettings` and `toOptions` read besides the options' own names. */
const fields = new Set([
  "response_format",
  "reasoning_effort",
  "max_tokens",
  "format",
  "think",
  "keep_alive",
  "logprobs",
  "top_logprobs",
  "truncate",
  "shift",
]);

function withSystem(body: JsonObject, system: unknown, kind: "chat" | "generate"): JsonObject {
  if (typeof system !== "string" || system === "" || body["raw"] === true) {
    return {};
  }
  if (kind === "generate") {
    return {
      system:
        typeof body["system"] === "string" && body["system"] !== "" ? `${system}\n${body["system"]}` : system,
    };
  }
  const messages = Array.isArray(body["messages"]) ? (body["messages"] as JsonObject[]) : [];
  const [first, ...rest] = messages;
  return {
    messages:
      first?.["role"] === "system" && typeof first["content"] === "string"
        ? [{ ...first, content: `${system}\n${first["content"]}` }, ...rest]
        : [{ role: "system", content: system }, ...messages],
  };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
