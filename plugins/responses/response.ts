import { randomUUID } from "node:crypto";
import type { Usage } from "#kernel/completion/chunk.ts";
import { toTokens } from "#kernel/completion/tokens.ts";
import { seconds } from "#storage/clock.ts";
import type { TranslatedRequest } from "./schema.ts";

/** An item of a response's output. */
export type OutputItem = Record<string, unknown> & {
  readonly id: string;
  readonly type: string;
  status: string;
};

/** A response of the Responses format. */
export interface Response extends Record<string, unknown> {
  readonly id: string;
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly output: readonly OutputItem[];
}

/** A new id, such as `msg_…`. */
export function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll("-", "")}`;
}

/** A response that has just begun: the settings of its request, and an empty output. */
export function toBegun(request: TranslatedRequest): Response {
  return {
    id: newId("resp"),
    object: "response",
    created_at: seconds(),
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    model: request.model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    store: false,
    temperature: request.temperature ?? null,
    text: { format: request.text?.format ?? { type: "text" } },
    tool_choice: request.tool_choice ?? "auto",
    tools: request.tools ?? [],
    top_p: request.top_p ?? null,
    truncation: "disabled",
    usage: null,
    metadata: request.metadata ?? {},
  };
}

/** Usage under the names of this format; null where the upstream reported none. */
export function toResponseUsage(usage: Usage | undefined): Record<string, unknown> | null {
  if (usage === undefined) {
    return null;
  }
  const { input, output, cached, reasoning } = toTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
