import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { ChannelAppActions } from "../channel-apps.ts";
import type { AppParts } from "../parts.ts";
import { AppChoice, ByChannel, ChannelApps, Self } from "../schema.ts";

const access = "permission:features.channels";

/** Apps in channels, and what an app may know of itself. */
export function channelAppRoutes(apps: ChannelAppActions, { channels }: Pick<AppParts, "channels">) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/apps/me",
        summary: "Read the app that the key belongs to, and the channels that it is in",
        access,
        returns: Self,
        fails: [404],
      },
      async ({ caller }) => {
        if (caller.app === undefined) {
          throw new AppError("not_found", "This is no key of an app.");
        }
        const { id, scopes } = caller.app;
        const found = (await channels?.channelsOf(caller.userId)) ?? [];
        return { id, user_id: caller.userId, name: caller.name, scopes: [...scopes], channels: found };
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/apps/channels/:channel_id",
        summary: "List the apps of a channel, and for its managers those that could be added",
        access,
        params: ByChannel,
        returns: ChannelApps,
        fails: [404],
      },
      ({ caller, params }) => apps.list(caller, params.channel_id),
    ),
    ...(["add", "remove"] as const).map((what) =>
      defineRoute(
        {
          method: "POST",
          path: `/apps/channels/:channel_id/${what}`,
          summary:
            what === "add"
              ? "Add an app to a channel (the channel's creator and administrators)"
              : "Take an app out of a channel (the channel's creator and administrators)",
          access,
          params: ByChannel,
          body: AppChoice,
          returns: z.literal(true),
          fails: [400, 403, 404],
        },
        ({ caller, params, body }) => apps[what](caller, params.channel_id, body.app_id),
      ),
    ),
  ] as const;
}
