import type { Sandbox } from "#kernel/sandbox.ts";
import { loadShape } from "#plugins/functions/service.ts";
import { type ToolCode, toScript } from "../parts.ts";
import { type ToolFacts, toToolFacts } from "./tool-facts.ts";

const mostKept = 500;

/** Facts of tools in memory: code that did not change is not loaded for each call. */
export function createKeptFacts(sandbox: Sandbox) {
  const kept = new Map<string, { readonly content: string; readonly facts: ToolFacts }>();
  return {
    /** Throws AppError `invalid` that names line and column. */
    async load(code: ToolCode): Promise<ToolFacts> {
      const known = kept.get(code.id);
      if (known?.content === code.content) {
        return known.facts;
      }
      const facts = toToolFacts(await loadShape(sandbox, toScript(code)), code.content);
      if (kept.size >= mostKept) {
        kept.delete(kept.keys().next().value as string);
      }
      kept.set(code.id, { content: code.content, facts });
      return facts;
    },
    forget: (id: string): void => void kept.delete(id),
  };
}
