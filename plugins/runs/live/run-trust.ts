import { findForeignResult } from "#kernel/tools/acting.ts";
import { createRunTrust, type RunTrust } from "#kernel/tools/run-trust.ts";
import type { OpenRun } from "#plugins/completions/service.ts";
import { fromOutput } from "../history/history.ts";
import type { OutputItem } from "../reply/items.ts";

/** Foreign text that a reply begins with: passages of files and pages, results of tools in earlier turns and in itself. */
export function toRunTrust(
  { request, sources, shown, tools }: Pick<OpenRun, "request" | "sources" | "shown" | "tools">,
  written: readonly OutputItem[],
): RunTrust {
  const [source] = sources ?? [];
  const named = (source?.["source"] as { name?: unknown } | undefined)?.name;
  const passages = source && (typeof named === "string" ? named : "files and pages");
  const messages = [...request.messages, ...fromOutput(written, { sees: false })];
  const given = shown.length > 0 ? "results of tools" : undefined;
  return createRunTrust(passages ?? given ?? findForeignResult(messages, tools));
}
