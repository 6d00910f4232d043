import { describe, expect, it } from "vitest";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { fillRequest, toProviderRequest, withUsage } from "./parameters.ts";

const request: CompletionRequest = {
  model: "m",
  messages: [{ role: "user", content: "hi" }],
  temperature: 0.1,
  max_tokens: null,
};

describe("parameters", () => {
  it("keeps what the request sent and fills the rest", () => {
    expect(
      fillRequest(request, { temperature: 0.9, max_tokens: 7, seed: 1, stop: ["x"], top_p: null }),
    ).toEqual({
      ...request,
      max_tokens: 7,
      seed: 1,
      stop: ["x"],
    });
  });

  it.each([
    [{}, { temperature: 0.9, num_predict: 5, num_ctx: 1 }],
    [{ temperature: 0.1 }, { num_predict: 5, num_ctx: 1 }],
    [{ max_tokens: 7 }, { temperature: 0.9, num_ctx: 1 }],
    [{ options: { num_ctx: 2 } }, { temperature: 0.9, num_predict: 5, num_ctx: 2 }],
  ])("fills options of the local runtime one by one, but for what %j says", (sent, options) => {
    const bare = { model: "m", messages: [], ...sent } as CompletionRequest;
    const saved = { options: { temperature: 0.9, num_predict: 5, num_ctx: 1 } };
    expect(fillRequest(bare, saved)).toEqual({ ...bare, options });
  });

  it("never sends what steers the platform", () => {
    const saved = {
      system: "S",
      stream_response: true,
      function_calling: "native",
      reasoning_tags: null,
      model_controls: [],
      stream_delta_chunk_size: 5,
    };
    expect(fillRequest(request, saved)).toEqual(request);
  });

  it("merges custom parameters deeply, below what the request sent, and reads JSON text", () => {
    const sent = { ...request, provider: { order: ["a"] } };
    const saved = {
      custom_params: {
        provider: '{"order": ["b"], "zdr": true}',
        transforms: '["x"]',
        note: "plain",
        temperature: 2,
      },
    };
    expect(fillRequest(sent, saved)).toEqual({
      ...sent,
      provider: { order: ["a"], zdr: true },
      transforms: ["x"],
      note: "plain",
    });
  });

  it("takes out what is meant for the platform and keeps everything else verbatim", () => {
    const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
    const sent = {
      ...request,
      chat_id: "c",
      id: "i",
      session_id: "s",
      params: { a: 1 },
      filter_ids: ["f"],
      files: [],
      features: {},
      variables: {},
      tools,
      tool_choice: "auto",
      parallel_tool_calls: false,
      logit_bias: { "1": 2 },
      unknown_key: { deep: [1] },
    };
    expect(toProviderRequest(sent)).toEqual({
      ...request,
      tools,
      tool_choice: "auto",
      parallel_tool_calls: false,
      logit_bias: { "1": 2 },
      unknown_key: { deep: [1] },
    });
  });
});

describe("usage on streams", () => {
  it.each([
    [true, { stream: true }, { include_usage: true }],
    [
      true,
      { stream: true, stream_options: { include_usage: false, other: 1 } },
      { include_usage: true, other: 1 },
    ],
    [true, { stream: false, stream_options: { include_usage: false } }, { include_usage: false }],
    [true, {}, undefined],
    [false, { stream: true }, undefined],
    [false, { stream: true, stream_options: { include_usage: false } }, { include_usage: false }],
  ])("capability %s, request %j → stream_options %j", (capability, sent, expected) => {
    expect(withUsage({ ...request, ...sent }, capability).stream_options).toEqual(expected);
  });
});
