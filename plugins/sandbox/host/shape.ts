import { requireDepth } from "./call-result.ts";
import { limits } from "../limits.ts";
import { type Json, type ModuleShape, SandboxError } from "#kernel/sandbox.ts";
import { toComments, toHeader } from "./source.ts";

/** Reads what a module exports. Its form is checked: the code may have changed how JSON is made. */
export function toShape(text: string, source: string): ModuleShape {
  if (text.length > limits.shapeLength) {
    const kilobytes = limits.shapeLength / 1024;
    throw new SandboxError(
      "value",
      `The data that the module exports is longer than ${kilobytes} thousand characters.`,
    );
  }
  requireDepth(text, "The data that the module exports is");
  const { functions, data, tools } = JSON.parse(text) as Record<string, Json | undefined>;
  const told = Object.entries(toObject(tools)).map(([name, tool]) => [name, withoutRun(tool)]);
  return {
    functions: Array.isArray(functions) ? functions.filter((name) => typeof name === "string") : [],
    data: toObject(data),
    tools: Object.fromEntries(told) as Record<string, Json>,
    header: toHeader(source),
    comments: toComments(source),
  };
}

/** An export that cannot be read yet waits for something that will never come: nothing happens outside of calls. */
export function toUnfinished(error: unknown): unknown {
  return error instanceof Error &&
    error.name === "ReferenceError" &&
    /before initialization/.test(error.message)
    ? new SandboxError(
        "timeout",
        "The module waits, with a top-level await, for something that does not come.",
      )
    : error;
}

function withoutRun(tool: Json): Json {
  return Object.fromEntries(Object.entries(toObject(tool)).filter(([name]) => name !== "run"));
}

function toObject(value: Json | undefined): Readonly<Record<string, Json>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, Json>>) : {};
}
