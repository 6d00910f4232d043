import { server } from "#plugins/web/kit/server.ts";

interface Told {
  /** Given the address of the frame. */
  readonly shown: (address: string) => void;
  readonly failed: (error: Error) => void;
}

/** Stores a document for a frame without an origin; what is returned takes it away again, also while it is stored. */
export function storePreview(
  document: { kind: "html" | "svg"; content: string },
  { shown, failed }: Told,
): () => void {
  let id: string | undefined;
  let isOver = false;
  const remove = () =>
    id !== undefined &&
    void server.call("DELETE /api/v1/previews/:id", { params: { id } }).catch(() => undefined);
  server.call("POST /api/v1/previews", { body: document }).then((stored) => {
    id = stored.id;
    if (isOver) {
      remove();
    } else {
      shown(`/preview/${stored.id}`);
    }
  }, failed);
  return () => {
    isOver = true;
    remove();
  };
}
