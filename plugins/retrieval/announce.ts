import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";
import type { NewSource } from "./index/source-store.ts";

/** Announces what becomes of the index (appendix A10). */
export interface RetrievalEvents {
  /** A file or a text was cut and stored; its words stay out of the event. */
  processed(source: Omit<NewSource, "language">): void;
  collectionDeleted(name: string): void;
  reset(what: "vector_db" | "uploads", by: Principal): void;
}

export function createRetrievalEvents(events: Pick<Events, "announce">): RetrievalEvents {
  return {
    processed({ itemId, fileId, userId, name, url, content }) {
      events.announce("retrieval.content.processed", {
        actor: { id: userId },
        subject: fileId === null ? { type: "text", id: itemId } : { type: "file", id: fileId },
        data: { name, url, characters: content.length },
      });
    },
    collectionDeleted(name) {
      const subject = { type: "collection", id: name };
      events.announce("retrieval.collection.deleted", { actor: null, subject });
    },
    reset(what, { userId: id, name, email, role }) {
      events.announce(`retrieval.${what}.reset`, { actor: { id, name, email, role }, subject: null });
    },
  };
}
