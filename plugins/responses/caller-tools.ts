import { createHash } from "node:crypto";
import type { TranslatedRequest, Tool } from "./schema.ts";

/** A caller's tool as chat models see it. */
export interface CallerTool {
  /** The tool under the name that models call it by. */
  readonly tool: Tool;
  /** The name that the caller gave it, and the group it stands in, if any. */
  readonly name: string | undefined;
  readonly namespace?: string | undefined;
}

/**
 * The caller's own tools: functions and tools that take a text, in groups as well, declared in `tools` or by an item
 * midway. `dropped` is called for tools that a provider would run on its own servers.
 */
export function toCallerTools(
  { tools, input }: Pick<TranslatedRequest, "tools" | "input">,
  dropped: (type: string) => void = () => {},
): CallerTool[] {
  const items = typeof input === "string" ? [] : input.filter(({ type }) => type === "additional_tools");
  const later = items.flatMap((item) => listOf(item["tools"]));
  return [...(tools ?? []), ...later].flatMap((tool) => {
    if (tool.type === "namespace" && tool.name !== undefined) {
      return fromNamespace(tool, tool.name, dropped);
    }
    return isOwn(tool, dropped) ? [{ tool, name: tool.name }] : [];
  });
}

/** Longest name of a function that every upstream takes. */
const longestName = 64;

/** The one name that a tool of a group has for models. */
export function toFlatName(name: string, namespace: unknown): string {
  if (typeof namespace !== "string" || namespace === "") {
    return name;
  }
  const flat = `${namespace}__${name}`;
  const hash = () => createHash("sha256").update(flat).digest("hex").slice(0, 8);
  return flat.length <= longestName ? flat : `${flat.slice(0, longestName - 9)}_${hash()}`;
}

function fromNamespace(group: Tool, namespace: string, dropped: (type: string) => void): CallerTool[] {
  return listOf(group["tools"])
    .filter((tool) => isOwn(tool, dropped))
    .map((tool) => ({
      tool: tool.name === undefined ? tool : { ...tool, name: toFlatName(tool.name, namespace) },
      name: tool.name,
      namespace,
    }));
}

function isOwn({ type }: Tool, dropped: (type: string) => void): boolean {
  return type === "function" || type === "custom" || (dropped(type), false);
}

function listOf(value: unknown): Tool[] {
  const isTool = (each: unknown): each is Tool =>
    typeof each === "object" && each !== null && typeof (each as Partial<Tool>).type === "string";
  return Array.isArray(value) ? value.filter(isTool) : [];
}
