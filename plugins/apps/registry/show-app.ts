import { avatarOf, type AppParts } from "../parts.ts";
import type { App, AppSecrets } from "../schema.ts";
import type { AppRow } from "../tables.ts";

/** An app as administrators see it; `once` holds what is shown this one time. */
export async function showApp(
  { channels }: Pick<AppParts, "channels">,
  row: AppRow,
  once: Pick<AppSecrets, "api_key" | "signing_secret"> = {},
): Promise<AppSecrets> {
  const found = (await channels?.channelsOf(row.user_id)) ?? [];
  return { ...toShown(row, found.length), ...once };
}

function toShown(row: AppRow, channelCount: number): App {
  const { key_hint: hint, key_created_at: keyAt } = row;
  return {
    id: row.id,
    user_id: row.user_id,
    name: row.name,
    description: row.description,
    avatar: avatarOf(row),
    url: row.url,
    manifest_url: row.manifest_url,
    scopes: [...row.scopes],
    events: [...row.events],
    enabled: row.enabled,
    disabled_reason: row.disabled_reason,
    key: row.key_hash === null ? null : { hint: `sk-app-…${hint}`, created_at: keyAt ?? 0 },
    channel_count: channelCount,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
