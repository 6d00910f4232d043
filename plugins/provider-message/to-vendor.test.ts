import { describe, expect, it, test } from "vitest";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import { fromAssistant, fromTool, fromUser } from "#test/support/wire-parts.ts";
import { call, conversations, parameters, signed, tool, user } from "./requests.fixture.ts";
import type { ModelFacts } from "./thinking.ts";
import { type ToVendorOptions, toVendor } from "./to-vendor.ts";

function convert(request: object, options: Partial<ToVendorOptions> = {}) {
  return toVendor({ model: "m", messages: [], ...request } as unknown as CompletionRequest, {
    upstreamId: "claude",
    facts: {},
    extraParams: {},
    passthrough: [],
    ...options,
  });
}

test.each(Object.entries(conversations))("the conversation keeps %s", (_name, [messages, expected]) => {
  expect(convert({ messages })).toEqual({ model: "claude", max_tokens: 8192, ...expected });
});

test.each(Object.entries(parameters))("the request keeps %s", (_name, [request, expected]) => {
  expect(convert(request)).toEqual({ model: "claude", max_tokens: 8192, messages: [], ...expected });
});

it("adds what the connection adds, and passes what it lists", () => {
  const options = { extraParams: { inference_geo: "eu", top_k: 1 }, passthrough: ["service", "top_k"] };
  expect(convert({ service: "s", other: 1, top_k: 2 }, options)).toMatchObject({
    inference_geo: "eu",
    service: "s",
    top_k: 2,
  });
  expect(convert({ other: 1, seed: 2 }, { passthrough: "*" })).toMatchObject({ other: 1 });
  expect(convert({ seed: 2 }, { passthrough: "*" })).not.toHaveProperty("seed");
});

it("takes the connection's limit where the caller sets none", () => {
  const options = { extraParams: { max_tokens: 4000 }, facts: { max_tokens: 64_000 } };
  expect(convert({}, options)).toMatchObject({ max_tokens: 4000 });
  expect(convert({ max_tokens: 5 }, options)).toMatchObject({ max_tokens: 5 });
  expect(convert({ reasoning_effort: "high" }, options)).toMatchObject({
    max_tokens: 4000,
    thinking: { type: "enabled", budget_tokens: 2000 },
  });
});

describe("thinking", () => {
  const yes = { supported: true };
  const no = { supported: false };
  const newer: ModelFacts = {
    max_tokens: 64_000,
    capabilities: {
      effort: { supported: true, low: yes, medium: yes, high: yes, max: no },
      thinking: { types: { adaptive: yes, enabled: no, disabled: yes } },
    },
  };
  const older: ModelFacts = {
    max_tokens: 64_000,
    capabilities: { effort: no, thinking: { types: { adaptive: no, enabled: yes, disabled: yes } } },
  };
  const plain: ModelFacts = {
    max_tokens: 4096,
    capabilities: { effort: no, thinking: { types: { enabled: no, adaptive: no } } },
  };
  const budget = (tokens: number) => ({ type: "enabled", budget_tokens: tokens });
  const answered = [user, fromAssistant(null, { tool_calls: [call("a", "{}")] }), fromTool("a", "1")];

  const cases: Record<string, [request: object, facts: ModelFacts, expected: object]> = {
    "an effort that the model knows": [
      { reasoning_effort: "low", temperature: 0.5 },
      newer,
      {
        thinking: { type: "adaptive" },
        output_config: { effort: "low" },
        max_tokens: 32_768,
        temperature: undefined,
      },
    ],
    "more than the model knows": [{ reasoning_effort: "max" }, newer, { output_config: { effort: "high" } }],
    "hardly any": [{ reasoning_effort: "minimal" }, newer, { output_config: { effort: "low" } }],
    "a budget where there is no effort": [
      { reasoning_effort: "medium" },
      older,
      { thinking: budget(4096), max_tokens: 32_768 + 4096, output_config: undefined },
    ],
    "a budget below the caller's limit": [
      { reasoning_effort: "high", max_tokens: 3000 },
      older,
      { thinking: budget(2999), max_tokens: 3000 },
    ],
    "a budget of half the model's own limit": [
      { reasoning_effort: "high" },
      { ...older, max_tokens: 8192 },
      { thinking: budget(4096), max_tokens: 8192 },
    ],
    "no thinking where the limit leaves no room": [
      { reasoning_effort: "high", max_tokens: 1000 },
      older,
      { thinking: undefined, max_tokens: 1000 },
    ],
    "a budget where nothing is known": [
      { reasoning_effort: "low" },
      {},
      { thinking: budget(1024), max_tokens: 9216 },
    ],
    "nothing where the model cannot": [
      { reasoning_effort: "high", temperature: 0.5 },
      plain,
      { thinking: undefined, max_tokens: 4096, temperature: 0.5 },
    ],
    "none at all": [{ reasoning_effort: "none" }, older, { thinking: { type: "disabled" } }],
    "no word where none cannot be asked for": [{ reasoning_effort: "none" }, {}, { thinking: undefined }],
    "no thinking ahead of a forced call": [
      { reasoning_effort: "high", tools: [tool], tool_choice: "required" },
      older,
      { thinking: undefined, tool_choice: { type: "any" } },
    ],
    "no thinking in a loop whose thoughts are lost": [
      { reasoning_effort: "high", messages: answered },
      older,
      { thinking: undefined },
    ],
    "thinking in a loop whose thoughts are there": [
      {
        reasoning_effort: "low",
        messages: [answered[0], { ...answered[1], reasoning_details: signed }, answered[2]],
      },
      older,
      { thinking: budget(1024) },
    ],
  };

  it.each(Object.entries(cases))("is asked for as %s", (_name, [request, facts, expected]) => {
    const made = convert(request, { facts });
    for (const [key, value] of Object.entries(expected)) {
      expect([key, made[key]]).toEqual([key, value]);
    }
  });
});

test.each([
  [{ type: "input_audio", input_audio: {} }, "messages.1.content.0"],
  [{ type: "image_url", image_url: { url: "ftp://x" } }, "messages.1.content.0.image_url"],
  [{ type: "file", file: { file_id: "f" } }, "messages.1.content.0.file"],
])("%j is refused by its place", (part, place) => {
  const messages = [user, fromUser([part])];
  expect(() => convert({ messages })).toThrow(AppError);
  expect(() => convert({ messages })).toThrow(`${place}: `);
});
