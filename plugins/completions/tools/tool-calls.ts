import { createSchemaCheck } from "../request/schema-check.ts";
import type { Tool } from "#kernel/tools/tool.ts";

/** A call that a task model chose, with parameters that fit the tool. */
export interface ToolCall {
  readonly tool: Tool;
  readonly parameters: Record<string, unknown>;
}

/** More calls than any question needs; a model that repeats itself must not run tools for ever. */
const mostCalls = 16;

/**
 * Reads what a task model answered: `{tool_calls: [{name, parameters}]}` or one bare `{name, parameters}`, with any
 * text around it. Parameters that the tool does not name are dropped; calls of unknown tools and calls whose
 * parameters do not fit are left out, and so is everything when there is no JSON.
 */
export function parseToolCalls(text: string, tools: readonly Tool[]): ToolCall[] {
  const answer = toBag(parse(text));
  const listed = answer?.["tool_calls"];
  const wanted: unknown[] = Array.isArray(listed) ? listed : [answer];
  return wanted
    .slice(0, mostCalls)
    .map((call) => toCall(toBag(call), tools))
    .filter((call) => call !== undefined);
}

type Bag = Record<string, unknown>;

function toCall(call: Bag | undefined, tools: readonly Tool[]): ToolCall | undefined {
  const tool = tools.find(({ spec }) => spec.name === call?.["name"]);
  const given = call?.["parameters"] ?? {};
  const parameters = toBag(given);
  if (tool === undefined || parameters === undefined) {
    return undefined;
  }
  const schema = tool.spec.parameters;
  const known = toBag(schema["properties"]);
  const kept = known
    ? Object.fromEntries(Object.entries(parameters).filter(([name]) => Object.hasOwn(known, name)))
    : parameters;
  return fits(kept, schema) ? { tool, parameters: kept } : undefined;
}

function fits(parameters: Bag, schema: Readonly<Bag>): boolean {
  const { required } = schema;
  if (Array.isArray(required) && required.some((name) => !Object.hasOwn(parameters, String(name)))) {
    return false;
  }
  try {
    return createSchemaCheck(schema).check(parameters).success;
  } catch {
    // A schema beyond what can be checked here: the tool checks what it gets.
    return true;
  }
}

/** From the first brace to the last: models like to talk around their answer. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  } catch {
    return undefined;
  }
}

function toBag(value: unknown): Bag | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : undefined;
}
