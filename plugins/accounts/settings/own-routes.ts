import { z } from "zod";
import type { PermissionTree } from "#kernel/access/permissions.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Groups } from "../groups/groups.ts";
import type { UserSettings } from "./settings.ts";
import type { UserStatus } from "./status.ts";
import { ownKeys } from "../users/users-directory.ts";
import { InfoUpdate, SettingsUpdate, StatusUpdate, VariablesUpdate } from "../users/user-schema.ts";

export interface OwnRouteParts {
  readonly groups: Groups;
  readonly settings: UserSettings;
  readonly status: UserStatus;
}

const Settings = z.object({
  ui: z.record(z.string(), z.unknown()),
  /** Names of the fields that the account has itself; the others are the instance's. */
  own: z.array(z.string()),
});
const Status = z.object({
  status_emoji: z.string().nullable(),
  status_message: z.string().nullable(),
  status_expires_at: z.number().int().nullable(),
});
const Info = z.record(z.string(), z.unknown());
const Variables = z.object({ variables: z.record(z.string(), z.string()) });

// More than may be kept: a change is measured with what is there already.
const keptBytes = 2 * 1024 * 1024;

/** Routes below `/api/v1/users` about the caller (contract 1.3). */
export function ownRoutes(parts: OwnRouteParts) {
  return [
    ...accessRoutes(parts),
    ...settingsRoutes(parts.settings),
    ...statusRoutes(parts.status),
    ...keptRoutes(parts.settings),
  ];
}

function accessRoutes({ groups }: OwnRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/users/groups",
        summary: "List the caller's groups",
        access: "user",
        returns: z.array(z.looseObject({ id: z.string(), name: z.string() })),
      },
      ({ caller }) => groups.ofUser(caller.userId),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/users/permissions",
        summary: "Read the caller's effective permissions",
        access: "user",
        returns: z.record(z.string(), z.record(z.string(), z.boolean())),
      },
      ({ caller }): PermissionTree => caller.permissions,
    ),
  ];
}

const withoutOwnKeys = (ui: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(ui).filter(([name]) => !ownKeys.includes(name)));

function settingsRoutes(settings: UserSettings) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/users/user/settings",
        summary: "Read the caller's settings",
        access: "user",
        returns: Settings,
      },
      async ({ caller }) => {
        const found = await settings.read(caller.userId);
        return caller.viewer === undefined ? found : { ...found, ui: withoutOwnKeys(found.ui) };
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/users/user/settings/update",
        summary: "Change the caller's settings: sent fields are applied, null clears one",
        access: "user",
        body: SettingsUpdate,
        maxBody: keptBytes,
        returns: Settings,
        fails: [413],
      },
      ({ caller, body }) => settings.update(caller, body.ui),
    ),
  ];
}

function statusRoutes(status: UserStatus) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/users/user/status",
        summary: "Read the caller's status",
        access: "user",
        returns: Status,
      },
      ({ caller }) => status.read(caller.userId),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/users/user/status/update",
        summary: "Change the caller's status",
        access: "user",
        body: StatusUpdate,
        returns: Status,
      },
      ({ caller, body }) => status.update(caller.userId, body),
    ),
  ];
}

function keptRoutes(settings: UserSettings) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/users/user/info",
        summary: "Read the caller's free-form info",
        access: "user",
        returns: Info,
      },
      ({ caller }) => settings.info(caller.userId),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/users/user/info/update",
        summary: "Merge keys into the caller's info",
        access: "user",
        body: InfoUpdate,
        maxBody: keptBytes,
        returns: Info,
        fails: [413],
      },
      ({ caller, body }) => settings.updateInfo(caller.userId, body),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/users/user/variables",
        summary: "Read the caller's template variables",
        access: "user",
        returns: Variables,
      },
      async ({ caller }) => ({ variables: await settings.variables(caller.userId) }),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/users/user/variables/update",
        summary: "Replace the caller's template variables",
        access: "user",
        body: VariablesUpdate,
        returns: Variables,
        fails: [400],
      },
      async ({ caller, body }) => ({
        variables: await settings.updateVariables(caller.userId, body.variables),
      }),
    ),
  ];
}
