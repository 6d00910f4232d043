import type { StoredServer } from "./schema.ts";

/** Whether a function of the server is offered: `function_name_filter_list` names those that are, or with `!` those that are not. */
export function isNameAllowed({ config }: Pick<StoredServer, "config">, name: string): boolean {
  const given = config?.function_name_filter_list ?? "";
  const entries = (typeof given === "string" ? given.split(",") : given).map((entry) => entry.trim());
  const excluded = entries.filter((entry) => entry.startsWith("!")).map((entry) => entry.slice(1).trim());
  const included = entries.filter((entry) => entry !== "" && !entry.startsWith("!"));
  return !excluded.includes(name) && (included.length === 0 || included.includes(name));
}
