import { DOMSerializer } from "prosemirror-model";
import { fromMarkdown } from "../text/markdown.ts";
import { noteSchema } from "../text/schema.ts";

/** The elements of a text; only those that the schema knows, with addresses that run nothing. */
export function createDocument(markdown: string): DocumentFragment {
  const target = document.createDocumentFragment();
  DOMSerializer.fromSchema(noteSchema).serializeFragment(
    fromMarkdown(markdown).content,
    { document },
    target,
  );
  return target;
}
