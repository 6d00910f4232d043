import { t } from "./i18n/index.svelte.ts";
import { type EventEnvelope, socket } from "./stores/socket.svelte.ts";

/** How far search by meaning is with a file whose text was read. */
export interface FileIndexState {
  readonly status: "pending" | "embedding" | "ready" | "failed";
  /** Why the last try failed, or what is waited for. */
  readonly error: string | null;
  readonly passages: { readonly total: number; readonly embedded: number };
}

/** The state in the words that every page has for it. */
export function describeIndex({ status, passages: { total, embedded } }: FileIndexState): string {
  const words = {
    pending: () => t("Searchable"),
    embedding: () => t("Indexing {done} of {total}", { done: embedded, total }),
    ready: () => t("Ready"),
    failed: () => t("Indexing failed"),
  };
  return words[status]();
}

/** Calls `onstate` with each step of the person's own files. Returns the way out. */
export function followIndexes(onstate: (fileId: string, state: FileIndexState) => void): () => void {
  return socket.on<EventEnvelope>("events", ({ data }) => {
    if (data.type === "file:progress") {
      const { file_id: id, ...state } = data.data as FileIndexState & { readonly file_id: string };
      onstate(id, state);
    }
  });
}
