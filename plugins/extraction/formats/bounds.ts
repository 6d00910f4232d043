import { createRequire } from "node:module";
import { DocumentProblem } from "./problem.ts";

/** Elements of one page, or of one part of an office document, that are kept as a tree: each takes some 300 bytes. */
const mostElements = 1_000_000;
/** Levels of elements or groups. Readers look through those that are open at each element, and call themselves for each. */
const mostLevels = 1000;

const isOverbuilt = (words: string) => new DocumentProblem(`The document ${words} and cannot be read.`);

/** Throws DocumentProblem for an element or a group that is nested more deeply than is read. */
export function requireShallow(levels: number): void {
  if (levels > mostLevels) {
    throw isOverbuilt(`is nested more than ${mostLevels} levels deep`);
  }
}

/** Throws DocumentProblem for more elements than a tree may have. */
export function requireFew(elements: number): void {
  if (elements > mostElements) {
    throw isOverbuilt(`has more than ${mostElements} elements`);
  }
}

interface ElementStack {
  readonly elements: { readonly length: number };
  pushed?: number;
  push(element: unknown): void;
}

/**
 * Holds the parser of HTML to the bounds while it parses. Only the parser knows how deep it is: which end tags count,
 * and which elements it opens again, is decided by a hundred rules of HTML.
 */
export function boundHtmlParser(): void {
  const load = createRequire(createRequire(import.meta.url).resolve("turndown"));
  const { ElementStack } = load("@mixmark-io/domino/lib/HTMLParser.js") as {
    readonly ElementStack: { readonly prototype: ElementStack };
  };
  const { push } = ElementStack.prototype;
  ElementStack.prototype.push = function bounded(this: ElementStack, element) {
    this.pushed = (this.pushed ?? 0) + 1;
    requireFew(this.pushed);
    requireShallow(this.elements.length);
    push.call(this, element);
  };
}
