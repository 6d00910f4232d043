import { server } from "#plugins/web/kit/server.ts";
import type { PostedFile } from "./open-channel.svelte.ts";

/** Stores a file that is to be posted. */
export async function uploadFile(file: File): Promise<PostedFile> {
  const body = new FormData();
  body.append("file", file);
  const stored = (await server.call("POST /api/v1/files/", { body })) as { id: string };
  return {
    id: stored.id,
    type: file.type.startsWith("image/") ? "image" : "file",
    name: file.name,
    content_type: file.type,
    size: file.size,
  };
}
