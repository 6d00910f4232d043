import type { ConfigRegistry } from "#config/registry.ts";

/** The fields of the form; each is the name of a variable, and shows as soon as a plugin declares it (appendix A2). */
export const adminFields: ReadonlySet<string> = new Set(
  [
    "SHOW_ADMIN_DETAILS ADMIN_EMAIL WEBUI_URL ENABLE_SIGNUP ENABLE_API_KEYS ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS",
    "API_KEYS_ALLOWED_ENDPOINTS DEFAULT_USER_ROLE DEFAULT_GROUP_ID JWT_EXPIRES_IN ENABLE_COMMUNITY_SHARING",
    "ENABLE_MESSAGE_RATING ENABLE_FOLDERS FOLDER_MAX_FILE_COUNT AUTOMATION_MAX_COUNT AUTOMATION_MIN_INTERVAL",
    "ENABLE_AUTOMATIONS ENABLE_CHANNELS CHANNEL_MODEL_RESPONSE_MODE ENABLE_CALENDAR ENABLE_MEMORIES",
    "ENABLE_MEMORY_SYSTEM_CONTEXT ENABLE_NOTES ENABLE_USER_WEBHOOKS ENABLE_USER_STATUS PENDING_USER_OVERLAY_TITLE",
    "PENDING_USER_OVERLAY_CONTENT RESPONSE_WATERMARK ENABLE_LOGIN_FORM DEFAULT_INTERFACE_SETTINGS ENABLE_MFA",
    "MFA_ALLOW_OAUTH_BYPASS MFA_ALLOW_TRUSTED_HEADER_BYPASS ENABLE_APPS ENABLE_SKILLS I18N",
  ].flatMap((names) => names.split(" ")),
);

/** The part of the configuration the form needs. */
export type AdminConfiguration = Pick<ConfigRegistry, "describe" | "set">;

export interface AdminConfig {
  /** Every field whose variable exists, with its value in force; lists are comma-separated texts. */
  read(): Record<string, unknown>;
  /** Changes the sent fields, all or none. Throws `unprocessable` naming the field that cannot take its value. */
  update(changes: Readonly<Record<string, unknown>>, by: string): Promise<Record<string, unknown>>;
}

/** Creates the form behind `/auths/admin/config` over the configuration. */
export function createAdminConfig(
  configuration: AdminConfiguration,
  emit: (event: string, data: Record<string, unknown>) => void,
): AdminConfig {
  const read = () => {
    const settings = configuration.describe().filter(({ name }) => adminFields.has(name));
    return Object.fromEntries(
      settings.map(({ name, value }) => [name, Array.isArray(value) ? value.join(",") : value]),
    );
  };
  return {
    read,
    async update(changes, by) {
      const known = read();
      // Clients send the whole form; fields of plugins that are left out, and what is no field at all, stay untouched.
      const wanted = Object.entries(changes).filter(([name]) => Object.hasOwn(known, name));
      await configuration.set(Object.fromEntries(wanted), by);
      const names = wanted.map(([name]) => name);
      if (names.length > 0) {
        emit("config.updated", { names, by });
      }
      return read();
    },
  };
}
