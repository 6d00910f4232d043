import type { Tokens } from "marked";
import { sanitize } from "./sanitize.ts";
import { toHtml } from "./syntax.ts";

/**
 * The rows of a table's head or body. They are sanitized as a whole table, since rows without one mean nothing to a
 * parser; what the sanitizer writes is well formed, so the outermost tags bound them.
 */
export function toTablePart(
  table: Tokens.Table,
  rows: Tokens.TableCell[][],
  part: "thead" | "tbody",
): string {
  const html = sanitize(toHtml([{ ...table, rows }]));
  const [begin, end] = [html.indexOf(`<${part}>`), html.lastIndexOf(`</${part}>`)];
  return begin < 0 || end < begin ? "" : html.slice(begin + part.length + 2, end);
}
