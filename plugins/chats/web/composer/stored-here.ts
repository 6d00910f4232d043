import { server } from "#plugins/web/kit/server.ts";

/** Files that something beside their upload names: a draft that was opened, a message that came back, a choice. */
const named = new Set<string>();
/** Other windows tell of theirs: drafts are shared. */
const others = new BroadcastChannel("attached-files");
others.addEventListener("message", ({ data }: MessageEvent<unknown>) => void named.add(String(data)));

/** Notes that a stored file is attached once more, so that removing its upload keeps it. */
export function noteNamed(fileId: string): void {
  named.add(fileId);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel takes no origin
  others.postMessage(fileId);
}

/** Deletes an upload that was taken back before anything else named it. */
export async function deleteUnsent(fileId: string): Promise<void> {
  if (!named.has(fileId)) {
    // A file that stays is listed with the person's own, where it can be deleted.
    await server.call("DELETE /api/v1/files/:id", { params: { id: fileId } }).catch(() => undefined);
  }
}
