import { updateYFragment, yXmlFragmentToProseMirrorRootNode } from "y-prosemirror";
import type * as Y from "yjs";
import { fromMarkdown, toMarkdown } from "../text/markdown.ts";
import { fragmentName, noteSchema } from "../text/schema.ts";

/** Marks edits of this view among those of a document. */
export const fromText = "markdown";

/** The Markdown of a document as it is now. */
export function readText(document: Y.Doc): string {
  return toMarkdown(yXmlFragmentToProseMirrorRootNode(document.getXmlFragment(fragmentName), noteSchema));
}

/** Makes the document say `markdown`; blocks that are alike stay, with what others type into them. */
export function writeText(document: Y.Doc, markdown: string): void {
  document.transact(() => {
    const binding = { mapping: new Map(), isOMark: new Map() };
    updateYFragment(document, document.getXmlFragment(fragmentName), fromMarkdown(markdown), binding);
  }, fromText);
}

/** Maps a position of one text to another that differs in one place. */
export function moveCaret(before: string, after: string, at: number): number {
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) {
    start += 1;
  }
  return at <= start ? at : Math.max(start, at + after.length - before.length);
}
