import type { typeset } from "./typeset.ts";

let draw: typeof typeset | undefined;
let loading: Promise<void> | undefined;

/** Draws the formulas in an element; the typesetter and its fonts come with the first one. */
export function drawFormulas(root: HTMLElement): void {
  const sources = root.querySelectorAll<HTMLElement>("code.tex[data-tex]");
  if (sources.length === 0) {
    return;
  }
  if (draw) {
    sources.forEach(draw);
    return;
  }
  loading ??= import("./typeset.ts").then((module) => {
    draw = module.typeset;
  });
  void loading.then(() => drawFormulas(root));
}
