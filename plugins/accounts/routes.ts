import type { ConfigRegistry } from "#config/registry.ts";
import type { Slot } from "#kernel/service.ts";
import type { Grants } from "#storage/grants.ts";
import { adminConfigRoutes } from "./sign-in/admin-config-routes.ts";
import { createAdminConfig } from "./sign-in/admin-config.ts";
import { createApiKeys } from "./api-keys/api-keys.ts";
import { authRoutes } from "./sign-in/auth-routes.ts";
import { createDefaultPermissions } from "./permissions/default-permissions.ts";
import type { AccountsConfig } from "./config.ts";
import type { AccountsDeps } from "./deps.ts";
import { groupRoutes } from "./groups/group-routes.ts";
import { createGroups } from "./groups/groups.ts";
import { createOwnAccount } from "./sign-in/own-account.ts";
import { effectiveRoute } from "./permissions/effective.ts";
import { explainRoute } from "./permissions/explain.ts";
import { previewRoutes } from "./permissions/previews.ts";
import type { AccessPreview, ExplainedResource, SignOutStep } from "./service.ts";
import { createLiveSessions } from "./sessions/live-sessions.ts";
import { sessionListRoutes } from "./sessions/session-list-routes.ts";
import { viewRoutes } from "./sessions/view-routes.ts";
import { createViews, toMayView } from "./sessions/views.ts";
import type { UserSettings } from "./settings/settings.ts";
import { createInvitations } from "./sign-in/invitations.ts";
import { createSignIn } from "./sign-in/sign-in.ts";
import { createSignOut } from "./sign-in/sign-out.ts";
import { createSignUp } from "./sign-in/sign-up.ts";
import { createUserStatus } from "./settings/status.ts";
import { userRoutes } from "./users/user-routes.ts";
import type { ShareRule } from "./users/user-schema.ts";
import { createUsers } from "./users/users.ts";
import { createTrustedHeaderSignIn } from "./sign-in/trusted-header-sign-in.ts";

export interface RouteParts {
  readonly settings: UserSettings;
  readonly configuration: ConfigRegistry;
  readonly grants: Pick<Grants, "forgetPrincipal" | "list">;
  readonly previews: Slot<AccessPreview>;
  readonly resources: Slot<ExplainedResource>;
  readonly signOutSteps: Slot<SignOutStep>;
}

/** All routes of the plugin, with the logic behind them. */
export function accountsRoutes(
  deps: AccountsDeps,
  { settings, configuration, grants, previews, resources, signOutSteps }: RouteParts,
) {
  const { config, permissions, changes, emit, images } = deps;
  const groups = createGroups({
    ...deps,
    defaultShare: () => toShareRule(config),
    forgetGrants: (tx, id) => grants.forgetPrincipal(tx, "group", id),
  });
  const signUp = createSignUp(deps);
  const views = createViews(deps, toMayView(configuration));
  return [
    ...authRoutes({
      config,
      images,
      signIn: createSignIn(deps),
      signInTrusted: createTrustedHeaderSignIn(deps, signUp),
      signUp,
      signOut: createSignOut(deps),
      endView: (caller) => views.end(caller),
      async signOutAddress(request, userId) {
        const addresses = await Promise.all(signOutSteps.list().map((step) => step(request, userId)));
        return addresses.find((address) => address !== undefined);
      },
      own: createOwnAccount(deps),
      apiKeys: createApiKeys(deps),
      invitations: createInvitations(deps),
    }),
    ...adminConfigRoutes({ adminConfig: createAdminConfig(configuration, emit) }),
    ...userRoutes({
      ...deps,
      signUp,
      users: createUsers({ ...deps, forgetGrants: (tx, id) => grants.forgetPrincipal(tx, "user", id) }),
      groups,
      settings,
      status: createUserStatus({ ...deps, isOn: () => config.userStatus }),
      defaults: createDefaultPermissions({ defaults: permissions, configuration, changes, emit }),
      images,
    }),
    ...groupRoutes({ groups }),
    ...sessionListRoutes(createLiveSessions(deps)),
    ...viewRoutes({ ...deps, views }),
    ...previewRoutes({ ...deps, previews }),
    effectiveRoute(deps),
    explainRoute({ ...deps, grants, resources }),
  ];
}

const shareRules = { members: "members", true: true, false: false } as const;

/** The sharing rule of new groups (DEFAULT_GROUP_SHARE_PERMISSION). */
export const toShareRule = ({ defaultGroupShare }: Pick<AccountsConfig, "defaultGroupShare">): ShareRule =>
  shareRules[defaultGroupShare];
