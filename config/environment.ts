import type { AnyVariable, Environment, Variable } from "./variable.ts";

/** A value that cannot be taken: names the variable and says, without quoting the value, what is wrong. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** The variable's name. */
  readonly variable: string;

  constructor(variable: string, problem: string) {
    super(`${variable} ${problem}.`);
    this.variable = variable;
  }
}

/** A variable's value from the environment, or its default. */
export interface EnvironmentValue<T> {
  readonly value: T;
  readonly source: "environment" | "default";
  /** True when the environment names this very value; false for a default and for what replaces a wrong value. */
  readonly stated: boolean;
}

/** Reads a variable from the environment, oddities included. Throws ConfigError for a wrong value without a substitute. */
export function readVariable<T>(
  variable: Variable<T>,
  environment: Environment,
  warn: (message: string) => void,
): EnvironmentValue<T> {
  const found = variable.settable ? findText(variable, environment) : undefined;
  if (found === undefined) {
    return defaultOf(variable, environment);
  }
  if (isEmpty(found.text, variable)) {
    const meaning = firstStated(found.legacy ? variable.whenWas : undefined, variable.whenEmpty);
    return meaning === undefined
      ? defaultOf(variable, environment)
      : { value: meaning, source: "environment", stated: true };
  }
  const parsed = variable.fromText(found.text);
  if (parsed.problem === undefined) {
    return { value: parsed.value, source: "environment", stated: true };
  }
  const substitute = firstStated(found.legacy ? variable.whenWas : undefined, variable.whenInvalid);
  if (substitute === undefined && !variable.ignoreInvalid) {
    throw new ConfigError(found.name, parsed.problem);
  }
  const replaced: EnvironmentValue<T> =
    substitute === undefined
      ? defaultOf(variable, environment)
      : { value: substitute, source: "environment", stated: false };
  warn(`${found.name} ${parsed.problem}; ${substituteText(variable, replaced.value)}.`);
  return replaced;
}

interface Found {
  readonly name: string;
  readonly text: string;
  readonly legacy: boolean;
}

// An empty alias or name leaves the word to the next one that says something: compose files set empty names freely.
function findText(variable: AnyVariable, environment: Environment): Found | undefined {
  const current = [variable.name, ...variable.aliases].filter((name) => environment[name] !== undefined);
  const name = current.find((candidate) => environment[candidate] !== "") ?? current[0];
  if (name !== undefined) {
    return { name, text: environment[name] ?? "", legacy: false };
  }
  const legacy = variable.was === undefined ? undefined : environment[variable.was];
  return legacy === undefined ? undefined : { name: variable.was as string, text: legacy, legacy: true };
}

function isEmpty(text: string, variable: AnyVariable): boolean {
  if (variable.kind === "text") {
    return text === "";
  }
  return text.trim() === "" && !variable.values?.includes("");
}

function defaultOf<T>(variable: Variable<T>, environment: Environment): EnvironmentValue<T> {
  const value = variable.computed ? variable.computed.from(environment) : variable.default;
  return { value, source: "default", stated: false };
}

function firstStated<T>(...values: (T | undefined)[]): T | undefined {
  return values.find((value) => value !== undefined);
}

function substituteText<T>(variable: Variable<T>, value: T): string {
  if (variable.secret) {
    return "something else is used instead";
  }
  return value === null
    ? "it counts as not set"
    : `${JSON.stringify(variable.toJson(value))} is used instead`;
}
