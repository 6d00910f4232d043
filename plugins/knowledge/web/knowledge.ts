import type { Api } from "#plugins/catalogue.ts";
import { plural, t } from "#plugins/web/kit/i18n/index.svelte.ts";

export type Collection = Api["GET /api/v1/knowledge/search"]["answer"]["items"][number];
export type Detail = Api["GET /api/v1/knowledge/:id"]["answer"];
export type Listed = Api["GET /api/v1/knowledge/:id/files"]["answer"];
export type KnowledgeFile = Listed["items"][number];
export type Directory = Listed["directories"][number];

/** Sound or a film: its text is what is said in it, and comes at the pace of an engine. */
export const isRecording = ({ meta }: KnowledgeFile): boolean =>
  /^(audio|video)\//.test(meta.content_type ?? "");

export const listPath = "/workspace/knowledge";
export const toPath = (id: string): string => `${listPath}/${encodeURIComponent(id)}`;

/** How many files there are, and what becomes of them, in words. */
export function stateOf({
  file_count: files,
  processing_count: processing,
  error_count: failed,
}: Pick<Collection, "file_count" | "processing_count" | "error_count">): string {
  return [
    plural(files, "{count} file", "{count} files"),
    ...(processing > 0 ? [t("{count} being read", { count: processing })] : []),
    ...(failed > 0 ? [t("{count} failed", { count: failed })] : []),
  ].join(" · ");
}
