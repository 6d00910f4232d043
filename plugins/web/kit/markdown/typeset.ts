import { render } from "katex";
import "katex/dist/katex.css";

/** Drawn formulas by their sources, so that a growing paragraph draws each of its own once. */
const drawn = new Map<string, Node>();
const mostDrawn = 500;

/**
 * Puts the formula in the place of its source; a broken one keeps its source. The typesetter makes elements and sets
 * their styles by script: the policy of the page lets no style stand in markup.
 */
export function typeset(source: HTMLElement): void {
  const { tex = "", display = "" } = source.dataset;
  const isAlone = source.parentElement?.className === "maths";
  const key = `${isAlone} ${display} ${tex}`;
  const known = drawn.get(key) ?? draw(tex, { isDisplay: display !== "", isAlone });
  if (drawn.size >= mostDrawn) {
    drawn.clear();
  }
  drawn.set(key, known);
  if (known.hasChildNodes()) {
    source.replaceWith(known.cloneNode(true));
  }
}

function draw(tex: string, { isDisplay, isAlone }: { isDisplay: boolean; isAlone: boolean }): Node {
  const place = document.createElement("span");
  try {
    render(tex, place, { displayMode: isDisplay, maxExpand: 200, maxSize: 20, strict: "ignore" });
  } catch {
    return document.createDocumentFragment();
  }
  // Within a line a formula keeps the high form and loses the paragraph around it.
  const shown = isAlone ? place.firstElementChild : place.querySelector(".katex");
  const fragment = document.createDocumentFragment();
  fragment.append(shown ?? "");
  return fragment;
}
