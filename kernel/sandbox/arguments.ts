import { jsonOf } from "#kernel/known-json.ts";

/** The arguments of a call as a JSON list in one line. What JSON has no word for becomes null, as lists have it. */
export function toArgumentsText(args: readonly unknown[]): string {
  return `[${args.map((value) => jsonOf(value) ?? JSON.stringify(value) ?? "null").join(",")}]`;
}
