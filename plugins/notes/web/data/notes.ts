import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";

export type NoteItem = Api["GET /api/v1/notes/search"]["answer"]["items"][number];
export type NoteRecord = Api["GET /api/v1/notes/:id"]["answer"];
export type VersionItem = Api["GET /api/v1/notes/:id/history"]["answer"][number];

export const listPath = "/notes";
export const toPath = (id: string): string => `/notes/${encodeURIComponent(id)}`;

/** A time in epoch nanoseconds. */
export const toDate = (time: number | bigint): Date => new Date(Number(BigInt(time) / 1_000_000n));

/** Notes by words, for lists of suggestions; none where notes are not there for this person. */
export async function findNotes(
  query: string,
  most: number,
  signal?: AbortSignal,
): Promise<readonly NoteItem[]> {
  try {
    const options = signal === undefined ? {} : { signal };
    const { items } = await server.call("GET /api/v1/notes/search", { query: { query }, ...options });
    return items.slice(0, most);
  } catch (error) {
    if ([401, 403, 404].includes((error as { status?: number }).status ?? 0)) {
      return [];
    }
    throw error;
  }
}
