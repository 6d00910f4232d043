import type Katex from "katex";
import { escapeHtml } from "./escape.ts";

let katex: typeof Katex | undefined;
let loading: Promise<void> | undefined;

/** MathML of a formula; its source until the typesetter is there, and where it is broken. */
export function toMath({ tex, isBlock, raw }: { tex: string; isBlock: boolean; raw: string }): string {
  if (!katex) {
    return `<code class="tex">${escapeHtml(raw.trim())}</code>`;
  }
  try {
    const maths = katex.renderToString(tex, {
      output: "mathml",
      displayMode: isBlock,
      maxExpand: 200,
      maxSize: 20,
    });
    return isBlock ? `<p class="maths">${maths}</p>` : maths;
  } catch {
    return `<code class="tex">${escapeHtml(raw.trim())}</code>`;
  }
}

/** Loads the typesetter with the first formula. */
export function loadMaths(): Promise<void> {
  loading ??= import("katex").then((module) => {
    katex = module.default;
  });
  return loading;
}

export const hasMaths = (): boolean => katex !== undefined;
