import * as Y from "yjs";
import { drafts } from "#plugins/web/kit/stores/drafts.ts";
import { fromBase64, toBase64 } from "#plugins/web/kit/base64.ts";

const toThing = (noteId: string): string => `note-edits:${noteId}`;

/** Edits of notes that did not reach the server: this browser keeps them until the note is opened again. */
export const unsentEdits = {
  /** Keeps these and no others. False where the browser does not take them: leaving then loses them. */
  keep(noteId: string, edits: readonly Uint8Array[]): boolean {
    if (edits.length === 0) {
      drafts.remove(toThing(noteId));
      return true;
    }
    return drafts.put(toThing(noteId), toBase64(Y.mergeUpdates([...edits])));
  },

  of(noteId: string): Uint8Array | undefined {
    const kept = drafts.of<string>(toThing(noteId));
    return kept && fromBase64(kept.value);
  },
};
