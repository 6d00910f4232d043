import { startUpstream, type Upstream } from "./upstream.ts";
import type { Script, UpstreamRequest } from "./upstream-exchange.ts";
import { json, jsonLines } from "./upstream-scripts.ts";

/** A scriptable backend of the local model runtime: lists, version and chat answer by themselves. */
export interface Runtime extends Upstream {
  /** Items of GET /api/tags, or their names. */
  held: readonly (string | Readonly<Record<string, unknown>>)[];
  /** Items of GET /api/ps. */
  loaded: readonly Readonly<Record<string, unknown>>[];
  version: string;
  /** The last request to a path. */
  last(path: string): UpstreamRequest;
}

/** Starts a backend on a free loopback port (or on `port`, to come back after an outage). */
export async function startRuntime(
  held: Runtime["held"] = ["llama3:latest"],
  options: { port?: number } = {},
): Promise<Runtime> {
  const upstream = await startUpstream(options);
  const runtime: Runtime = Object.assign(upstream, {
    held,
    loaded: [] as Runtime["loaded"],
    version: "0.12.3",
    last: (path: string) => {
      const found = upstream.requests.findLast((request) => request.path === path);
      if (found === undefined) {
        throw new Error(`nobody asked ${path}`);
      }
      return found;
    },
  });
  const live =
    (answer: () => unknown): Script =>
    (exchange) =>
      json(answer())(exchange);
  runtime.always(
    "/api/tags",
    live(() => ({ models: runtime.held.map((each) => (typeof each === "string" ? tag(each) : each)) })),
  );
  runtime.always(
    "/api/ps",
    live(() => ({ models: runtime.loaded })),
  );
  runtime.always(
    "/api/version",
    live(() => ({ version: runtime.version })),
  );
  runtime.always("/api/chat", chat("Hello there"));
  return runtime;
}

/** An item of GET /api/tags. */
export function tag(name: string): Record<string, unknown> {
  return {
    name,
    model: name,
    modified_at: "2025-10-03T23:34:03.409490317-07:00",
    size: 3_338_801_804,
    digest: "a2af6cc3eb7fa8be8504abaf9b04e88f17a119ec3f04a3addf55f92841195f5a",
    details: { format: "gguf", family: "llama", families: ["llama"], parameter_size: "4.3B" },
  };
}

/** The counts and times of a last line. */
export const ending = {
  done: true,
  done_reason: "stop",
  total_duration: 174_560_334,
  load_duration: 101_397_084,
  prompt_eval_count: 10,
  prompt_eval_duration: 13_074_791,
  eval_count: 5,
  eval_duration: 52_479_709,
} as const;

/** A line of POST /api/chat. */
export function line(
  message: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
) {
  return {
    model: "llama3:latest",
    created_at: "2025-10-17T23:14:07.414671Z",
    message: { role: "assistant", content: "", ...message },
    done: false,
    ...more,
  };
}

/** The lines of a streamed reply, one a word with its blank. */
export function chatLines(text: string): Record<string, unknown>[] {
  const words = text.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
  return [...words.map((content) => line({ content })), line({}, ending)];
}

/** A chat reply, streamed or whole, as the request asks for. */
export function chat(text: string): Script {
  return (exchange) =>
    exchange.request.body?.stream === false
      ? json(line({ content: text }, ending))(exchange)
      : jsonLines(chatLines(text))(exchange);
}
