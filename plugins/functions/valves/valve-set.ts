import type { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { createSchemaCheck, type SchemaCheck } from "#plugins/completions/service.ts";

export type ValveValues = Readonly<Record<string, unknown>>;

/** One setting as its author declared it: JSON Schema with `default`, and `input` for the form. */
export type ValveSchema = Readonly<Record<string, unknown>>;

/** The settings that user code declares with `export const valves` or `userValves` (contract 4.2, D.29). */
export interface ValveSet {
  /** By name, in the author's order. */
  readonly properties: ReadonlyMap<string, ValveSchema>;
  /** The JSON Schema of the form. */
  readonly schema: Readonly<Record<string, unknown>>;
  /**
   * The values to save: null and unknown ones are left out, defaults are not added. Throws AppError `invalid` that
   * names the field.
   */
  check(given: ValveValues): ValveValues;
  /** The values that the code sees: saved ones that still fit, defaults for the rest. */
  complete(saved: ValveValues): ValveValues;
}

/** Reads a declaration: properties by name, or a whole object schema. Throws AppError `invalid` when it is neither. */
export function createValveSet(declared: unknown, title: string): ValveSet {
  const { properties, required } = toProperties(declared, title);
  const checks = new Map(
    [...properties].map(([name, schema]) => [name, toCheck(schema, `${title}.${name}`)]),
  );
  const isMissing = (given: ValveValues, name: string) =>
    (given[name] ?? null) === null && properties.get(name)?.["default"] === undefined;

  return {
    properties,
    schema: { title, type: "object", properties: Object.fromEntries(properties), required },
    check(given) {
      const lacking = required.find((name) => isMissing(given, name));
      if (lacking !== undefined) {
        throw new AppError("invalid", `${lacking}: a value is required`);
      }
      const kept = Object.entries(given).filter(([name, value]) => value !== null && checks.has(name));
      return Object.fromEntries(kept.map(([name, value]) => [name, requireFit(checks, name, value)]));
    },
    complete(saved) {
      const filled: [string, unknown][] = [];
      for (const [name, schema] of properties) {
        const own = saved[name] ?? null;
        // Code changes after its valves were saved; a value of the old shape must not reach the new code.
        const value = own !== null && checks.get(name)?.check(own).success ? own : schema["default"];
        if (value !== undefined) {
          filled.push([name, value]);
        }
      }
      return Object.fromEntries(filled);
    },
  };
}

const longest = 64 * 1024;

function toProperties(declared: unknown, title: string) {
  const isWhole = isObject(declared) && declared["type"] === "object" && isObject(declared["properties"]);
  const source = isWhole ? (declared["properties"] as ValveSchema) : declared;
  if (!isObject(source)) {
    throw new AppError("invalid", `${title} must be an object of JSON Schema properties.`);
  }
  if (JSON.stringify(source).length > longest) {
    throw new AppError("invalid", `${title} may take at most ${longest} characters as JSON.`);
  }
  const listed = isWhole && Array.isArray(declared["required"]) ? (declared["required"] as unknown[]) : [];
  const properties = new Map<string, ValveSchema>();
  for (const [name, schema] of Object.entries(source)) {
    if (!isObject(schema)) {
      throw new AppError("invalid", `${title}.${name} must be a JSON Schema.`);
    }
    properties.set(name, { title: toTitle(name), ...schema });
  }
  return { properties, required: listed.map(String).filter((name) => properties.has(name)) };
}

/** The title of a setting whose author gave it none: `max_items` → `Max Items`. */
function toTitle(name: string): string {
  return name.replaceAll("_", " ").replaceAll(/(?<=^|\s)\p{Ll}/gu, (letter) => letter.toUpperCase());
}

/** `default`, `input` and `title` are for the form and say nothing about which values fit. */
function toCheck(schema: ValveSchema, name: string): SchemaCheck {
  const { default: fallback, input: _input, title: _title, ...rest } = schema;
  let check: SchemaCheck;
  try {
    check = createSchemaCheck(rest);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("invalid", `${name} is no valid JSON Schema: ${reason}`, { cause });
  }
  if (fallback !== undefined && fallback !== null && !check.check(fallback).success) {
    throw new AppError("invalid", `${name} has a default that does not fit its own schema.`);
  }
  return check;
}

function requireFit(checks: ReadonlyMap<string, SchemaCheck>, name: string, value: unknown): unknown {
  const result = checks.get(name)?.check(value);
  if (result?.success) {
    return value;
  }
  const issue = result?.error.issues[0];
  const path = [name, ...(issue?.path ?? [])].join(".");
  throw new AppError("invalid", `${path}: ${toReason(issue)}`);
}

function toReason(issue: z.core.$ZodIssue | undefined): string {
  const nested = issue?.code === "invalid_union" ? issue.errors.map(([first]) => first?.message) : [];
  const reasons = [...new Set(nested.filter((reason) => reason !== undefined))];
  return reasons.length > 0 ? reasons.join("; or ") : (issue?.message ?? "Invalid value");
}

function isObject(value: unknown): value is ValveSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
