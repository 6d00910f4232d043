import type { ConfigRegistry } from "#config/registry.ts";
import type { Grants } from "#storage/grants.ts";
import { adminConfigRoutes } from "./admin-config-routes.ts";
import { createAdminConfig } from "./admin-config.ts";
import { createApiKeys } from "./api-keys.ts";
import { authRoutes } from "./auth-routes.ts";
import { createDefaultPermissions } from "./default-permissions.ts";
import type { AccountsDeps } from "./deps.ts";
import { groupRoutes } from "./group-routes.ts";
import { createGroups } from "./groups.ts";
import { createOwnAccount } from "./own-account.ts";
import type { UserSettings } from "./settings.ts";
import { createSignIn } from "./sign-in.ts";
import { createSignOut } from "./sign-out.ts";
import { createSignUp } from "./sign-up.ts";
import { createUserStatus } from "./status.ts";
import { userRoutes } from "./user-routes.ts";
import { createUsers } from "./users.ts";

export interface RouteParts {
  readonly settings: UserSettings;
  readonly configuration: ConfigRegistry;
  readonly grants: Pick<Grants, "forgetPrincipal">;
}

/** All routes of the plugin, with the logic behind them. */
export function accountsRoutes(deps: AccountsDeps, { settings, configuration, grants }: RouteParts) {
  const { config, permissions, changes, emit, images } = deps;
  const groups = createGroups({
    ...deps,
    defaultShare: () => shareRules[config.defaultGroupShare],
    forgetGrants: (tx, id) => grants.forgetPrincipal(tx, "group", id),
  });
  return [
    ...authRoutes({
      config,
      signIn: createSignIn(deps),
      signUp: createSignUp(deps),
      signOut: createSignOut(deps),
      own: createOwnAccount(deps),
      apiKeys: createApiKeys(deps),
    }),
    ...adminConfigRoutes({ adminConfig: createAdminConfig(configuration, emit) }),
    ...userRoutes({
      users: createUsers({ ...deps, forgetGrants: (tx, id) => grants.forgetPrincipal(tx, "user", id) }),
      groups,
      settings,
      status: createUserStatus({ ...deps, isOn: () => config.userStatus }),
      defaults: createDefaultPermissions({ defaults: permissions, configuration, changes, emit }),
      images,
    }),
    ...groupRoutes({ groups }),
  ];
}

const shareRules = { members: "members", true: true, false: false } as const;
