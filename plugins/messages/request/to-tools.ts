import { AppError } from "#kernel/errors.ts";
import type { CallLabels } from "../call-labels.ts";
import { type OfferedTool, toKnown, toOffered } from "./offered-tools.ts";
import type { InputTool, TranslatedRequest } from "../schema.ts";

/** The keys of a common-format request that are about tools. */
export interface CommonTools {
  tools?: { type: "function"; function: Record<string, unknown> }[];
  tool_choice?: unknown;
  parallel_tool_calls?: boolean;
}

/**
 * Translates the caller's own tools; schemas are passed unchanged. Tools that the vendor runs itself (a dated `type` and
 * no schema) mean nothing to other upstreams: `dropped` is called for them. Contract D.24.
 */
export function toTools(
  request: Pick<TranslatedRequest, "tools" | "tool_choice" | "messages">,
  { labels, dropped }: { labels: CallLabels; dropped(type: string): void },
): CommonTools {
  const choice = request.tool_choice;
  requireChoosable(request);
  const kept = toOffered(request)
    .filter((each) => isOwn(each) || (dropped(each.tool.type ?? ""), false))
    .map(({ tool }) => tool);
  if (kept.length === 0) {
    return {};
  }
  const isKnown = choice?.type !== "tool" || kept.some(({ name }) => name === choice.name);
  return {
    tools: kept.map((tool) => toFunction(tool, labels)),
    ...(choice && isKnown && { tool_choice: toChoice(choice, labels) }),
    ...(choice &&
      choice.type !== "none" &&
      choice.disable_parallel_tool_use && { parallel_tool_calls: false }),
  };
}

/** Refuses a choice that the request itself makes impossible; tools that are left out here only lose it. */
function requireChoosable({
  tools,
  tool_choice: choice,
  messages,
}: Parameters<typeof toOffered>[0] & {
  readonly tool_choice?: TranslatedRequest["tool_choice"];
}): void {
  const names = toKnown({ tools, messages });
  const isForced = choice?.type === "any" || choice?.type === "tool";
  if (isForced && names.size === 0) {
    throw refuseChoice(["tool_choice"], "may force a call only where there are tools");
  }
  if (choice?.type === "tool" && !names.has(choice.name)) {
    throw refuseChoice(
      ["tool_choice", "name"],
      `no tool of this request is named "${choice.name.slice(0, 100)}"`,
    );
  }
}

function refuseChoice(place: readonly string[], msg: string): AppError {
  return new AppError("unprocessable", [{ type: "invalid_value", loc: ["body", ...place], msg }]);
}

function isOwn({ tool: { type, input_schema: schema }, place }: OfferedTool): boolean {
  if (schema) {
    return true;
  }
  if (/_\d{8}$/.test(type ?? "")) {
    return false;
  }
  throw new AppError("unprocessable", [
    { type: "missing", loc: [...place, "input_schema"], msg: "a tool needs a schema of its input" },
  ]);
}

function toFunction({ name, description, input_schema: parameters, strict }: InputTool, labels: CallLabels) {
  return {
    type: "function" as const,
    function: {
      name: labels.toUpstreamName(name),
      ...(description && { description }),
      parameters,
      ...(typeof strict === "boolean" && { strict }),
    },
  };
}

function toChoice(choice: NonNullable<TranslatedRequest["tool_choice"]>, labels: CallLabels): unknown {
  switch (choice.type) {
    case "tool":
      return { type: "function", function: { name: labels.toUpstreamName(choice.name) } };
    case "any":
      return "required";
    default:
      return choice.type;
  }
}
