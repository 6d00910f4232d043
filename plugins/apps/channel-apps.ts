import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { type AppParts, avatarOf, requireApp, requireChannels } from "./parts.ts";
import type { AppRow } from "./tables.ts";

export type ChannelAppActions = ReturnType<typeof createChannelApps>;

/** Apps in channels, in the hands of the channels' managers. */
export function createChannelApps(parts: Pick<AppParts, "db" | "channels" | "configuration" | "record">) {
  const { db } = parts;
  const change = async (
    what: "added" | "removed",
    caller: Principal,
    place: { id: string; appId: string },
  ) => {
    const channels = requireChannels(parts);
    const channel = await channels.requireManager(caller, place.id);
    const app = await requireApp(db, place.appId);
    if (what === "added" && !app.enabled) {
      throw new AppError("invalid", "This app is switched off.");
    }
    const bot = { userId: app.user_id, name: app.name };
    const hasChanged =
      what === "added"
        ? await channels.add(caller, channel.id, bot)
        : await channels.remove(caller, channel.id, bot);
    if (hasChanged) {
      const after = { channel_id: channel.id, channel: channel.name };
      await parts.record({
        action: `app.${what}`,
        object: { type: "app", id: app.id, name: app.name },
        after,
      });
    }
    return true as const;
  };
  return {
    /** The apps of a channel for its readers; those that could be added for its managers alone. */
    async list(caller: Principal, id: string) {
      const channels = requireChannels(parts);
      const { isManager } = await channels.requireReader(caller, id);
      const rows = await db.selectFrom("app").selectAll().orderBy("name").orderBy("id").execute();
      const ids = rows.map((row) => row.user_id);
      const joined = await channels.joined(id, ids);
      return {
        installed: rows.filter((row) => joined.has(row.user_id)).map(show),
        available: isManager ? rows.filter((row) => row.enabled && !joined.has(row.user_id)).map(show) : [],
        is_manager: isManager,
      };
    },
    add: (caller: Principal, id: string, appId: string) => change("added", caller, { id, appId }),
    remove: (caller: Principal, id: string, appId: string) => change("removed", caller, { id, appId }),
  };
}

function show(row: AppRow) {
  const { id, user_id, name, description, enabled } = row;
  return { id, user_id, name, description, avatar: avatarOf(row), scopes: [...row.scopes], enabled };
}
