import { ApiError } from "#plugins/web/kit/client.ts";
import { server } from "#plugins/web/kit/server.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { toBase64 } from "#plugins/web/kit/base64.ts";

/** Bytes of an edit that the socket takes; larger ones go over HTTP. */
const largest = 500_000;

export interface Refused {
  readonly error?: string;
  readonly code?: string;
}

const codes: Readonly<Record<number, string>> = {
  403: "forbidden",
  404: "not_found",
  429: "rate_limited",
  503: "unavailable",
};

export const toDocumentId = (noteId: string): string => `note:${noteId}`;

/** Sends an edit of a note's document. Rejects when the server was not reached. */
export async function sendEdit(noteId: string, bytes: Uint8Array): Promise<Refused | true> {
  if (bytes.length <= largest) {
    const data = { document_id: toDocumentId(noteId), update: toBase64(bytes) };
    return await socket.emit("ydoc:document:update", data);
  }
  return await postEdit(noteId, bytes);
}

/** The same over HTTP, which an edit of any size may take, and one that is sent as the page goes. */
export async function postEdit(noteId: string, bytes: Uint8Array): Promise<Refused | true> {
  const body = { update: toBase64(bytes) };
  try {
    await server.call("POST /api/v1/notes/:id/edits", { params: { id: noteId }, body });
    return true;
  } catch (error) {
    if (error instanceof ApiError) {
      return { error: error.message, code: codes[error.status] ?? "" };
    }
    throw error;
  }
}
