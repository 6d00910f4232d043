import type { ConfigRegistry } from "#config/registry.ts";
import type { PartialPermissionTree, PermissionTree } from "#kernel/access/permissions.ts";
import type { AccountChanges } from "../account-changes.ts";
import type { PermissionDefaults } from "./permissions.ts";

export interface DefaultPermissionsOptions {
  readonly defaults: PermissionDefaults;
  readonly configuration: Pick<ConfigRegistry, "set">;
  readonly changes: AccountChanges;
  emit(event: string, data: Record<string, unknown>): void;
}

/** The default permissions as admins read and set them. */
export interface DefaultPermissions extends PermissionDefaults {
  /** Stores the tree in place of the one before; resolves to the tree in force. */
  store(tree: PartialPermissionTree, by: string): Promise<PermissionTree>;
}

/** Creates the logic behind `/users/default/permissions`. */
export function createDefaultPermissions(options: DefaultPermissionsOptions): DefaultPermissions {
  const { defaults, configuration, changes, emit } = options;
  return {
    builtIn: () => defaults.builtIn(),
    current: () => defaults.current(),
    async store(tree, by) {
      await configuration.set({ USER_PERMISSIONS: tree }, by);
      await changes.announce({ all: true });
      emit("user.permissions_updated", { by });
      return defaults.current();
    },
  };
}
