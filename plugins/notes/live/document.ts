import { AppError } from "#kernel/errors.ts";
import { updateYFragment, yXmlFragmentToProseMirrorRootNode } from "y-prosemirror";
import * as Y from "yjs";
import { maxMarkdown } from "../web/text/limit.ts";
import { fromMarkdown, toMarkdown } from "../web/text/markdown.ts";
import { fragmentName, noteSchema } from "../web/text/schema.ts";

/** Bytes of a note's document. */
export const maxState = 2_000_000;
/** Bytes of one update over the socket: a frame takes no more. */
export const maxFrame = 700_000;
/** Bytes of an update that a full document still takes: what deletes is that small. */
export const maxSmall = 300;

/** The document that some updates make together, in whatever order they come. */
export function openDocument(updates: readonly Uint8Array[]): Y.Doc {
  const document = new Y.Doc();
  for (const update of updates) {
    Y.applyUpdate(document, update);
  }
  return document;
}

/** The Markdown of a document. */
export function readMarkdown(document: Y.Doc): string {
  return toMarkdown(yXmlFragmentToProseMirrorRootNode(document.getXmlFragment(fragmentName), noteSchema));
}

/** The update that makes a document say `markdown`; blocks that are alike stay, so that edits beside them do too. */
export function toEdit(document: Y.Doc, markdown: string): Uint8Array {
  const before = Y.encodeStateVector(document);
  const target = fromMarkdown(requireSize(markdown));
  document.transact(() => {
    updateYFragment(document, document.getXmlFragment(fragmentName), target, {
      mapping: new Map(),
      isOMark: new Map(),
    });
  });
  return Y.encodeStateAsUpdate(document, before);
}

/** Throws `invalid` for bytes that are no update of a document. */
export function requireUpdate(bytes: Uint8Array): Uint8Array {
  try {
    Y.decodeUpdate(bytes);
  } catch {
    throw new AppError("invalid", "update: these bytes are no update of a Yjs document.");
  }
  return bytes;
}

/** One update that holds what some others do. */
export function mergeUpdates(updates: readonly Uint8Array[]): Uint8Array {
  return updates.length === 1 ? (updates[0] as Uint8Array) : Y.mergeUpdates([...updates]);
}

export const encodeState = (document: Y.Doc): Uint8Array => Y.encodeStateAsUpdate(document);

function requireSize(markdown: string): string {
  if (markdown.length > maxMarkdown) {
    throw new AppError(
      "too_large",
      `A note holds at most ${maxMarkdown.toLocaleString("en-US")} characters.`,
    );
  }
  return markdown;
}
