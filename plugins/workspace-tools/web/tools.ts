import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";

export type ToolItem = Api["GET /api/v1/tools/list"]["answer"][number];
export type ToolRecord = Api["GET /api/v1/tools/id/:id"]["answer"];
export type ToolVersion = Api["GET /api/v1/tools/id/:id/versions"]["answer"][number];
export type ToolCheck = Api["POST /api/v1/tools/check"]["answer"];
export type ToolTrial = Api["POST /api/v1/tools/try"]["answer"];
export type ToolSpec = ToolCheck["specs"][number];
export type Bag = Readonly<Record<string, unknown>>;

export const listPath = "/workspace/tools";
export const newPath = "/workspace/new-tool";
export const toPath = (id: string): string => `/workspace/tool/${encodeURIComponent(id)}`;

/** Loads unsaved code and answers what it declares. */
export const checkCode = (content: string) => server.call("POST /api/v1/tools/check", { body: { content } });

/** What code may do beyond its own sandbox, in words of the manifest. */
export function toCapabilities(may: ToolCheck["capabilities"] | undefined): readonly string[] {
  return may
    ? [
        ...may.fetch.map((host) => `fetch: ${host}`),
        ...(may.complete ? ["complete"] : []),
        ...(may.storage ? ["storage"] : []),
      ]
    : [];
}
