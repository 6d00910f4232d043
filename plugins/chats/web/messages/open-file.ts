import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";

/** Files of this page's life that were asked for. */
const known = new Map<string, Promise<boolean>>();

/** False for files of other people, and for those that are gone: no link leads to them. */
export function mayOpen(fileId: string): Promise<boolean> {
  const asked =
    known.get(fileId) ??
    server.call("GET /api/v1/files/:id/process/status", { params: { id: fileId } }).then(
      () => true,
      () => false,
    );
  known.set(fileId, asked);
  return asked;
}

/** Where a file is shown, at a passage of it where one is named. */
export function fileAddress(
  fileId: string,
  range?: { readonly start: number; readonly end: number },
): string {
  const id = encodeURIComponent(fileId);
  if (!session.pages.some(({ path }) => path === "/files/:id")) {
    return `/api/v1/files/${id}/content`;
  }
  return range === undefined ? `/files/${id}` : `/files/${id}?start=${range.start}&end=${range.end}`;
}
