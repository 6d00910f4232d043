import {
  fillTree,
  type PartialPermissionTree,
  type Permission,
  type PermissionTree,
  toDefaultTree,
} from "#kernel/access/permissions.ts";

const off = (section: string, keys: string) => list(section, keys, false);
const on = (section: string, keys: string) => list(section, keys, true);

/** Every permission of the platform's own features with what a fresh installation allows (contract 1.4). */
export const platformPermissions: readonly Permission[] = [
  ...off("workspace", "models knowledge prompts tools skills models_import models_export prompts_import"),
  ...off("workspace", "prompts_export tools_import tools_export skills_import skills_export models_hidden"),
  ...off(
    "sharing",
    "models public_models knowledge public_knowledge prompts public_prompts tools public_tools",
  ),
  ...off(
    "sharing",
    "skills public_skills notes public_notes folders public_chats open_chats public_calendars",
  ),
  ...off("sharing", "public_channels"),
  ...on("access_grants", "allow_users allow_groups"),
  ...on("chat", "controls valves system_prompt params file_upload web_upload delete delete_message"),
  ...on("chat", "continue_response regenerate_response rate_response edit share export import stt tts call"),
  ...on("chat", "multiple_models temporary"),
  ...off("chat", "temporary_enforced"),
  ...on("features", "notes folders channels web_search image_generation code_interpreter memories calendar"),
  ...off("features", "api_keys direct_tool_servers automations webhooks encrypted_channels"),
  ...on("settings", "interface"),
];

/** The environment variable that sets a permission's default: `features.api_keys` → USER_PERMISSIONS_FEATURES_API_KEYS. */
export function toVariableName(path: string): string {
  return `USER_PERMISSIONS_${path.replace(".", "_").toUpperCase()}`;
}

/** The defaults as the environment sets them, by path, out of the plugin's variables. */
export function toEnvironmentDefaults(
  config: Readonly<Record<`${string}.${string}`, boolean>>,
): Record<string, boolean> {
  return Object.fromEntries(platformPermissions.map(({ path }) => [path, config[path] === true]));
}

/** Permissions of every account before its groups add to them. */
export interface PermissionDefaults {
  /** The plugins' declarations, overridden by the environment. */
  builtIn(): PermissionTree;
  /** The tree in force: the stored one, filled up with the built-in one. */
  current(): PermissionTree;
}

export interface PermissionSources {
  /** Declarations of the enabled plugins; readable once all are set up. */
  declared(): readonly Permission[];
  /** Defaults that the environment sets, by path. */
  environment(): Readonly<Record<string, boolean>>;
  /** `user.permissions` as an admin stored it. */
  stored(): PartialPermissionTree;
}

/** Combines declarations, environment and the stored tree into the default permissions. */
export function createPermissionDefaults(sources: PermissionSources): PermissionDefaults {
  const builtIn = () => {
    const environment = sources.environment();
    const declared = sources.declared();
    return toDefaultTree(
      declared.map(({ path, default: allowed }) => ({ path, default: environment[path] ?? allowed })),
    );
  };
  return { builtIn, current: () => fillTree(builtIn(), sources.stored()) };
}

function list(section: string, keys: string, allowed: boolean): Permission[] {
  return keys.split(" ").map((key) => ({ path: `${section}.${key}` as const, default: allowed }));
}
