import { z } from "zod";
import type { ZodType } from "zod";
import { bounded, orNull } from "./check.ts";
import { declare } from "./declaration.ts";
import type { Variable, VariableOptions, Variables } from "./declaration.ts";
import {
  parseBool,
  parseChoice,
  parseDuration,
  parseInteger,
  parseJson,
  parseList,
  parseNumber,
} from "./parse.ts";
import type { Duration, Parsed } from "./parse.ts";

export type {
  AnyVariable,
  Environment,
  Values,
  Variable,
  VariableKind,
  VariableOptions,
  Variables,
} from "./declaration.ts";
export type { Duration } from "./parse.ts";

/** The variables under one heading of the settings page; those that have a heading keep it. */
export function grouped<V extends Variables>(heading: string, variables: V): V {
  const entries = Object.entries(variables);
  return Object.fromEntries(
    entries.map(([name, variable]) => [name, { ...variable, group: variable.group ?? heading }]),
  ) as V;
}

/** Declares a switch. */
export function bool(name: string, value: boolean, options: VariableOptions<boolean>): Variable<boolean> {
  return declare(name, value, options, {
    kind: "bool",
    schema: z.boolean("must be true or false"),
    read: parseBool,
  });
}

/** Declares a whole number; null stands for "not set" or "no limit". */
export function int(name: string, value: number, options: VariableOptions<number>): Variable<number>;
export function int(
  name: string,
  value: number | null,
  options: VariableOptions<number | null>,
): Variable<number | null>;
export function int(
  name: string,
  value: number | null,
  options: VariableOptions<number | null>,
): Variable<number | null> {
  const schema = bounded(z.int("must be a whole number"), options);
  return declare(name, value, options, {
    kind: "int",
    schema: orNull(schema, outcomes(value, options)),
    read: parseInteger,
  });
}

/** Longest wait in seconds: a timer that is set for more than 2^31 ms (24 days) ends at once. */
export const longestSeconds = 2_000_000;

/** Declares whole seconds that something waits for; more than `longestSeconds` counts as that. */
export function seconds(name: string, value: number, options: VariableOptions<number>): Variable<number>;
export function seconds(
  name: string,
  value: number | null,
  options: VariableOptions<number | null>,
): Variable<number | null>;
export function seconds(
  name: string,
  value: number | null,
  options: VariableOptions<number | null>,
): Variable<number | null> {
  const schema = bounded(z.int("must be a whole number"), options).transform((given) =>
    Math.min(given, longestSeconds),
  );
  return declare(name, value, options, {
    kind: "int",
    schema: orNull(schema, outcomes(value, options)),
    read: parseInteger,
  });
}

/** Declares a decimal number; null stands for "not set". */
export function number(name: string, value: number, options: VariableOptions<number>): Variable<number>;
export function number(
  name: string,
  value: number | null,
  options: VariableOptions<number | null>,
): Variable<number | null>;
export function number(
  name: string,
  value: number | null,
  options: VariableOptions<number | null>,
): Variable<number | null> {
  const schema = bounded(z.number("must be a number"), options);
  return declare(name, value, options, {
    kind: "number",
    schema: orNull(schema, outcomes(value, options)),
    read: parseNumber,
  });
}

/** Declares a text; null stands for "not set". */
export function text(name: string, value: string, options: VariableOptions<string>): Variable<string>;
export function text(
  name: string,
  value: string | null,
  options: VariableOptions<string | null>,
): Variable<string | null>;
export function text(
  name: string,
  value: string | null,
  options: VariableOptions<string | null>,
): Variable<string | null> {
  const schema = orNull(z.string("must be a text"), outcomes(value, options));
  return declare(name, value, options, { kind: "text", schema, read: (raw) => ({ value: raw }) });
}

/** Declares a list of texts, separated by commas unless told otherwise. */
export function list(
  name: string,
  value: string[],
  options: VariableOptions<string[]> & { separator?: "," | ";"; none?: true },
): Variable<string[]> {
  const { separator = ",", none, ...rest } = options;
  const schema = z.array(z.string("must hold texts only"), "must be a list of texts");
  const read = (raw: string) =>
    none && raw.trim().toLowerCase() === "none" ? { value: [] } : parseList(raw, separator);
  return declare(name, value, rest, { kind: "list", schema, read });
}

/** Declares a JSON value of a given shape. */
export function json<T>(
  name: string,
  value: NoInfer<T>,
  options: VariableOptions<NoInfer<T>> & { schema: ZodType<T> },
): Variable<T> {
  const { schema, ...rest } = options;
  return declare<T>(name, value, rest, { kind: "json", schema, read: parseJson });
}

/** Declares a span of time, written as in `1h30m`; `-1` and `0` never end. */
export function duration(
  name: string,
  value: string,
  options: VariableOptions<Duration>,
): Variable<Duration> {
  const initial = parseDuration(value);
  if (initial.problem !== undefined) {
    throw new TypeError(`The default of ${name} ${initial.problem}.`);
  }
  const schema = z
    .union([z.string(), z.number().transform(String)], "must be a duration")
    .transform((raw, context): Duration => {
      const parsed = parseDuration(raw);
      if (parsed.problem === undefined) {
        return parsed.value;
      }
      context.addIssue({ code: "custom", message: parsed.problem, input: raw });
      return z.NEVER;
    });
  const toJson = (given: Duration) => given.text;
  return declare(name, initial.value, options, {
    kind: "duration",
    schema,
    read: (raw) => ({ value: raw }),
    toJson,
  });
}

/** Declares a choice between fixed words, matched whatever the case. */
export function oneOf<const T extends string>(
  name: string,
  values: readonly T[],
  value: NoInfer<T>,
  options: VariableOptions<NoInfer<T>>,
): Variable<T> {
  const schema = z.enum(
    values as readonly [T, ...T[]],
    `must be one of ${values.join(", ")}`,
  ) as unknown as ZodType<T>;
  return declare<T>(name, value, options, {
    kind: "oneOf",
    schema,
    read: (raw) => parseChoice(raw, values),
    values,
  });
}

/** Declares a switch that may also hold a text, such as a path. */
export function boolOrText(
  name: string,
  value: boolean,
  options: VariableOptions<boolean | string>,
): Variable<boolean | string> {
  const schema = z.union([z.boolean(), z.string()], "must be true, false or a text");
  const read = (raw: string): Parsed<boolean | string> => {
    const parsed = parseBool(raw);
    return parsed.problem === undefined ? parsed : { value: raw };
  };
  return declare<boolean | string>(name, value, options, { kind: "boolOrText", schema, read });
}

function outcomes<T>(value: T, options: VariableOptions<T>): (T | undefined)[] {
  return [value, options.whenEmpty, options.whenInvalid, options.whenWas];
}
