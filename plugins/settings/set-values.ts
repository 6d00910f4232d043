import { ConfigError, type ConfigRegistry } from "#config/registry.ts";
import { AppError } from "#kernel/errors.ts";

/** A refused value, in the shape of a validation answer that names the variable. */
export function toRefusal(error: unknown): unknown {
  if (!(error instanceof ConfigError)) {
    return error;
  }
  const entry = { type: "value_error", loc: ["body", error.variable], msg: error.message };
  return new AppError("unprocessable", [entry], { cause: error });
}

/** Sets variables by name, all or none. Throws `unprocessable` naming the one that cannot take its value. */
export async function setValues(
  configuration: Pick<ConfigRegistry, "set">,
  values: Readonly<Record<string, unknown>>,
  by: string,
): Promise<void> {
  try {
    await configuration.set(values, by);
  } catch (error) {
    throw toRefusal(error);
  }
}
