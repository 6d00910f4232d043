import { AppError } from "#kernel/errors.ts";

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const maxCount = 200;
const maxLength = 10_000;

/**
 * Checks a person's template variables (`{{user.variables.<name>}}`). Throws `invalid` naming the first bad name:
 * a letter or underscore, then at most 63 letters, digits and underscores.
 */
export function requireUserVariables(variables: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(variables);
  if (entries.length > maxCount) {
    throw new AppError("invalid", `At most ${maxCount} variables can be kept.`);
  }
  for (const [name, value] of entries) {
    if (!namePattern.test(name)) {
      throw new AppError(
        "invalid",
        `"${name.slice(0, 80)}" is not a variable name: use letters, digits and underscores.`,
      );
    }
    if (value.length > maxLength) {
      throw new AppError("invalid", `The value of "${name}" is longer than ${maxLength} characters.`);
    }
  }
  return Object.fromEntries(entries);
}
