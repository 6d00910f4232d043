import type { JsonObject } from "#config/json-values.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { withCacheControl } from "./to-parts.ts";

/** The tools and the choice among them in the vendor's format; empty without tools. */
export function toVendorTools(request: CompletionRequest): Record<string, unknown> {
  const tools = (request.tools ?? []).map((tool) => toTool(tool));
  if (tools.length === 0) {
    return {};
  }
  const isSingle = request["parallel_tool_calls"] === false;
  const choice = toChoice(request["tool_choice"]) ?? (isSingle ? { type: "auto" } : undefined);
  return {
    tools,
    ...(choice && {
      tool_choice:
        isSingle && choice.type !== "none" ? { ...choice, disable_parallel_tool_use: true } : choice,
    }),
  };
}

function toTool(tool: JsonObject): unknown {
  const called = tool["function"] as JsonObject | null | undefined;
  if (!called) {
    // A tool that the vendor runs itself: its own format is the only one it has.
    return tool;
  }
  const { name, description, parameters, strict } = called;
  return withCacheControl(
    {
      name,
      ...(typeof description === "string" && description !== "" && { description }),
      input_schema: parameters ?? { type: "object", properties: {} },
      ...(typeof strict === "boolean" && { strict }),
    },
    tool["cache_control"] ?? called["cache_control"],
  );
}

function toChoice(choice: unknown): { type: string; name?: unknown } | undefined {
  if (choice === "auto" || choice === "none") {
    return { type: choice };
  }
  if (choice === "required") {
    return { type: "any" };
  }
  const name = ((choice as JsonObject | null | undefined)?.["function"] as JsonObject | undefined)?.["name"];
  return name === undefined ? undefined : { type: "tool", name };
}
