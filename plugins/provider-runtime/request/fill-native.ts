import { toCustomValue } from "#kernel/completion/saved-parameters.ts";
import { isOption, toOptions } from "./options.ts";
import { toSettings } from "./settings.ts";

type Bag = Readonly<Record<string, unknown>>;

/**
 * A native chat or generate request with the model's saved parameters where it left them out, and its system prompt
 * ahead of the caller's; the very same object when there is nothing to fill in. Core API, chat completion rule 7.
 */
export function fillNative<B extends Bag>(body: B, saved: Bag, kind: "chat" | "generate"): B {
  const all = withCustom(saved);
  const given = toBag(body["options"]);
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
function withCustom(saved: Bag): Bag {
  const custom = Object.entries(toBag(saved["custom_params"])).map(
    ([name, value]) => [name, toCustomValue(value)] as const,
  );
  const isField = (name: string) => isOption(name) || fields.has(name);
  return {
    ...Object.fromEntries(custom.filter(([name]) => isField(name))),
    ...saved,
    options: { ...Object.fromEntries(custom.filter(([name]) => !isField(name))), ...toBag(saved["options"]) },
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

function withSystem(body: Bag, system: unknown, kind: "chat" | "generate"): Bag {
  if (typeof system !== "string" || system === "" || body["raw"] === true) {
    return {};
  }
  if (kind === "generate") {
    return {
      system:
        typeof body["system"] === "string" && body["system"] !== "" ? `${system}\n${body["system"]}` : system,
    };
  }
  const messages = Array.isArray(body["messages"]) ? (body["messages"] as Bag[]) : [];
  const [first, ...rest] = messages;
  return {
    messages:
      first?.["role"] === "system" && typeof first["content"] === "string"
        ? [{ ...first, content: `${system}\n${first["content"]}` }, ...rest]
        : [{ role: "system", content: system }, ...messages],
  };
}

function toBag(value: unknown): Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : {};
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
