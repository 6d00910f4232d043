import type { TextPlace } from "#plugins/files/service.ts";
import { followEvents } from "#plugins/web/kit/follow-events.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";

/** What the page of a file shows. */
export interface ShownFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly size: number | undefined;
  readonly status: "pending" | "completed" | "failed";
  readonly error: string | null;
  readonly text: string;
  readonly places: readonly TextPlace[];
  readonly isTruncated: boolean;
  readonly skipped: readonly { readonly part: string; readonly reason: string }[];
}

export async function loadFile(id: string): Promise<ShownFile> {
  const { filename, meta, data } = await server.call("GET /api/v1/files/:id", { params: { id } });
  return {
    id,
    name: filename,
    type: typeof meta.content_type === "string" ? meta.content_type : "",
    size: typeof meta.size === "number" ? meta.size : undefined,
    status: data["status"] as ShownFile["status"],
    error: typeof data["error"] === "string" ? data["error"] : null,
    text: typeof data["content"] === "string" ? data["content"] : "",
    places: Array.isArray(data.places) ? (data.places as TextPlace[]) : [],
    isTruncated: data.truncated === true,
    skipped: Array.isArray(data.skipped) ? (data.skipped as ShownFile["skipped"]) : [],
  };
}

/** Calls `ended` once the text has been read, or could not be; stops when the result is called. */
export function followReading(id: string, ended: () => void): () => void {
  const stop = followEvents<{ readonly status: ShownFile["status"] }>(
    `/api/v1/files/${encodeURIComponent(id)}/process/status?stream=true`,
    {
      onData({ status }) {
        if (status !== "pending") {
          stop();
          ended();
        }
      },
      onRefused: ended,
    },
  );
  return stop;
}

export const contentOf = (id: string) => `/api/v1/files/${encodeURIComponent(id)}/content`;

/** The kinds of originals that a browser shows by itself. */
export function kindOf({ type }: ShownFile): "pdf" | "picture" | "sound" | "video" | undefined {
  if (type === "application/pdf") {
    return "pdf";
  }
  if (/^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(type)) {
    return "picture";
  }
  return type.startsWith("audio/") ? "sound" : type.startsWith("video/") ? "video" : undefined;
}

/** Words for a place, such as "Page 3"; a member of an archive with its page. */
export function toPlaceName({ page, sheet, part }: TextPlace): string {
  const names = [part, sheet, page === undefined ? undefined : t("Page {page}", { page })];
  return names.filter((name) => name !== undefined).join(" · ");
}
