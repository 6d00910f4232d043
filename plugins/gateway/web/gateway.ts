import type { Api } from "#plugins/catalogue.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

export type GatewayState = Api["GET /api/v1/gateway/state"]["answer"];
export type Workspace = Api["GET /api/v1/gateway/workspaces"]["answer"][number];
export type Key = Api["GET /api/v1/gateway/keys"]["answer"][number];
export type Run = Api["GET /api/v1/gateway/workspaces/:id/runs"]["answer"][number];
export type Change = Api["GET /api/v1/gateway/workspaces/:id/runs/:run_id/changes"]["answer"][number];
export type Entry = Api["GET /api/v1/gateway/workspaces/:id/files"]["answer"][number];

export const listPath = "/admin/gateway";
export const toPath = (id: string): string => `${listPath}/${encodeURIComponent(id)}`;

/** How far a command of an agent can reach, in plain words. */
export function reachOf({ confined, command_network: hasNetwork }: GatewayState): string {
  if (!confined) {
    return t(
      "Commands are not confined: a command can reach whatever the server's account can, this platform's data and secrets among it.",
    );
  }
  return hasNetwork
    ? t("Commands see their workspace alone, and reach the network with this server's own services.")
    : t("Commands see their workspace alone and reach no network.");
}
