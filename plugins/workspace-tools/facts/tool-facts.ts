import { AppError } from "#kernel/errors.ts";
import type { Json, ModuleShape } from "#kernel/sandbox.ts";
import { type CodeFacts, toCodeFacts } from "#plugins/functions/service.ts";
import type { StoredSpec } from "../tables.ts";
import { readDocComment } from "./doc-comment.ts";

/** The facts that a tool's code declares (contract 4.3, D.29). */
export interface ToolFacts extends CodeFacts {
  readonly specs: readonly StoredSpec[];
}

const mostFunctions = 100;
/** Names that upstreams take. */
const nameForm = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const longestDescription = 10_000;

/**
 * Reads a loaded module: the functions of `export const tools`, else the exported functions that have a doc comment.
 * Throws AppError `invalid` that names the function where it declares nonsense.
 */
export function toToolFacts(shape: ModuleShape, source: string): ToolFacts {
  const declared = Object.entries(shape.tools);
  const specs =
    declared.length > 0
      ? declared.map(([name, tool]) => fromDeclaration(name, tool))
      : shape.functions
          .filter((name) => shape.comments[name] !== undefined)
          .map((name) => fromComment(name, shape.comments[name] ?? "", source));
  if (specs.length === 0) {
    throw new AppError(
      "invalid",
      "The code exports neither `tools` nor a function with a doc comment (/** … */) that models could call.",
    );
  }
  if (specs.length > mostFunctions) {
    throw new AppError("invalid", `A tool may have at most ${mostFunctions} functions.`);
  }
  return { ...toCodeFacts(shape), specs };
}

function fromDeclaration(name: string, declared: Json): StoredSpec {
  requireName(name);
  const tool = toBag(declared);
  const parameters = tool["parameters"] ?? {};
  if (typeof parameters !== "object" || parameters === null || Array.isArray(parameters)) {
    throw new AppError("invalid", `tools.${name}.parameters must be a JSON Schema of an object.`);
  }
  const description = tool["description"];
  if (description !== undefined && typeof description !== "string") {
    throw new AppError("invalid", `tools.${name}.description must be a text.`);
  }
  const { parallel, title } = tool;
  return {
    name,
    description: (description ?? "").slice(0, longestDescription),
    parameters: toParameters(name, parameters as Readonly<Record<string, unknown>>),
    entry: `tools.${name}`,
    ...(parallel === true && { parallel }),
    ...(typeof title === "string" && title !== "" && { title }),
  };
}

/** A whole object schema, or its properties by name. */
function toParameters(
  name: string,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (given["type"] === "object" || "$ref" in given || Object.keys(given).length === 0) {
    return { ...given, type: "object", properties: given["properties"] ?? {} };
  }
  const isProperties = Object.values(given).every((value) => typeof value === "object" && value !== null);
  if (!isProperties || Array.isArray(given)) {
    throw new AppError("invalid", `tools.${name}.parameters must be a JSON Schema with type "object".`);
  }
  return { type: "object", properties: given };
}

function fromComment(name: string, comment: string, source: string): StoredSpec {
  requireName(name);
  const { description, parameters, names, root, isParallel, title } = readDocComment(comment);
  const takesObject = root !== undefined || isObjectFirst(name, names, source);
  return {
    name,
    description: description.slice(0, longestDescription),
    parameters,
    entry: name,
    ...(isParallel && { parallel: true }),
    ...(title !== undefined && { title }),
    ...(!takesObject && { positions: names }),
  };
}

/** `f({city, days}, ctx)` and `f(params, ctx)` take all parameters as one object; `f(city, days, ctx)` one by one. */
function isObjectFirst(name: string, names: readonly string[], source: string): boolean {
  const start = new RegExp(
    String.raw`\bexport\s+(?:async\s+)?(?:function\s*\*?\s*${RegExp.escape(name)}|(?:const|let|var)\s+${RegExp.escape(name)}\s*=\s*(?:async\s*)?(?:function\s*\*?\s*\w*)?)\s*\(?\s*`,
  ).exec(source);
  const first = start && source.slice(start.index + start[0].length);
  const argument = /^[\w$]+/.exec(first ?? "")?.[0];
  return (
    first?.startsWith("{") === true || (argument !== undefined && names.length > 0 && argument !== names[0])
  );
}

function requireName(name: string): void {
  if (!nameForm.test(name)) {
    throw new AppError(
      "invalid",
      `The function name "${name.slice(0, 80)}" has to be 1 to 64 letters, digits, underscores and hyphens.`,
    );
  }
}

function toBag(value: Json): Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}
