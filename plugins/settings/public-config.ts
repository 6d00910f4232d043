import type { ConfigRegistry } from "#config/registry.ts";
import type { PermissionTree } from "#kernel/access/permissions.ts";
import { isMember, type Principal } from "#kernel/access/principal.ts";
import type { ConfigPart } from "./service.ts";
import type { Suggestion } from "./schema.ts";

export interface PublicConfigOptions {
  readonly configuration: Pick<ConfigRegistry, "declarations" | "jsonOf">;
  readonly name: string;
  readonly version: string;
  /** True while no account exists. */
  isEmpty(): Promise<boolean>;
  suggestions(): readonly Suggestion[];
  defaultPermissions(): PermissionTree;
  /** Fields of other plugins. */
  parts(): readonly ConfigPart[];
}

type Tree = Record<string, unknown>;

/** Feature flags for everybody, before sign-in. */
const publicFeatures =
  "enable_signup_password_confirmation enable_ldap enable_signup enable_login_form".split(" ");

/** Feature flags for signed-in accounts (appendix A1); each is the variable of the same name in capitals. */
const memberFeatures = [
  "enable_api_keys enable_password_auth enable_password_change_form enable_version_update_check enable_public_active_users_count",
  "enable_easter_eggs enable_direct_connections enable_plugins enable_folders folder_max_file_count enable_channels",
  "enable_calendar enable_automations enable_notes enable_context_compaction enable_web_search",
  "enable_web_search_confirmation web_search_confirmation_content enable_code_execution enable_code_interpreter",
  "enable_image_generation enable_autocomplete_generation enable_community_sharing enable_message_rating",
  "enable_user_webhooks enable_user_status enable_admin_export enable_admin_chat_access enable_admin_analytics",
  "enable_google_drive_integration enable_onedrive_integration enable_memories enable_title_generation",
  "enable_follow_up_generation enable_tags_generation enable_pyodide_file_persistence enable_direct_integrations",
  "enable_tools enable_functions enable_tool_servers enable_terminal_servers enable_encrypted_channels enable_apps",
  "enable_tool_permissions enable_subagents",
].flatMap((names) => names.split(" "));

/** Fields for members, as paths of the answer and the variables they show. */
const memberFields: Readonly<Record<string, string>> = {
  default_models: "DEFAULT_MODELS",
  default_pinned_models: "DEFAULT_PINNED_MODELS",
  "file.max_size": "RAG_FILE_MAX_SIZE",
  "file.max_count": "RAG_FILE_MAX_COUNT",
  "file.image_compression.width": "FILE_IMAGE_COMPRESSION_WIDTH",
  "file.image_compression.height": "FILE_IMAGE_COMPRESSION_HEIGHT",
  "ui.default_interface_settings": "DEFAULT_INTERFACE_SETTINGS",
};

/** Fields for members that are texts: "" while the variable, or the plugin that declares it, is not there. */
const memberTexts: Readonly<Record<string, string>> = {
  "code.engine": "CODE_EXECUTION_ENGINE",
  "code.interpreter_engine": "CODE_INTERPRETER_ENGINE",
  "audio.tts.engine": "AUDIO_TTS_ENGINE",
  "audio.tts.voice": "AUDIO_TTS_VOICE",
  "audio.tts.split_on": "AUDIO_TTS_SPLIT_ON",
  "audio.stt.engine": "AUDIO_STT_ENGINE",
  "audio.realtime.engine": "AUDIO_REALTIME_ENGINE",
  "google_drive.client_id": "GOOGLE_DRIVE_CLIENT_ID",
  "google_drive.api_key": "GOOGLE_DRIVE_API_KEY",
  "onedrive.client_id_personal": "ONEDRIVE_CLIENT_ID_PERSONAL",
  "onedrive.client_id_business": "ONEDRIVE_CLIENT_ID_BUSINESS",
  "onedrive.sharepoint_url": "ONEDRIVE_SHAREPOINT_URL",
  "onedrive.sharepoint_tenant_id": "ONEDRIVE_SHAREPOINT_TENANT_ID",
  "ui.response_watermark": "RESPONSE_WATERMARK",
  "ui.iframe_csp": "IFRAME_CSP",
};

/** The only fields a pending account gets besides the flags. */
const pendingFields: Readonly<Record<string, string>> = {
  "ui.pending_user_overlay_title": "PENDING_USER_OVERLAY_TITLE",
  "ui.pending_user_overlay_content": "PENDING_USER_OVERLAY_CONTENT",
};

/** Fields for members that clients read, of features that only other servers of the ecosystem have. */
const memberConstants = {
  default_prompt_suggestions_i18n: {},
  license_metadata: null,
  ui: { visibility: {} },
};

/** Creates `GET /api/config`: what it tells grows from visitors to pending accounts to members (contract 0.1). */
export function createPublicConfig(
  options: PublicConfigOptions,
): (caller: Principal | undefined) => Promise<Tree> {
  const read = createReader(options.configuration);
  return async (caller) => {
    const answer: Tree = {
      status: true,
      name: options.name,
      version: options.version,
      build_hash: read("WEBUI_BUILD_HASH") ?? "",
      default_locale: read("DEFAULT_LOCALE") ?? "",
      i18n: {},
      oauth: { providers: {}, auto_redirect: read("OAUTH_AUTO_REDIRECT") ?? false },
      features: toFeatures(read, caller !== undefined),
      // Who chooses a password is told the rule before it refuses.
      password_hint: read("ENABLE_PASSWORD_VALIDATION") ? (read("PASSWORD_VALIDATION_HINT") ?? "") : "",
      // Only an address that was published for it: that of the first administrator is for people with an account.
      contact_email: read("SHOW_ADMIN_DETAILS") === true ? (read("ADMIN_EMAIL") ?? "") : "",
    };
    if (caller === undefined && (await options.isEmpty())) {
      answer["onboarding"] = true;
    }
    if (caller !== undefined) {
      // With a second factor a pending account gets no session to see them in (configuration document).
      const shown: Reader = (name) => (read("ENABLE_MFA") === true ? "" : read(name));
      place(answer, pendingFields, { read: shown, missing: "" });
    }
    if (caller !== undefined && isMember(caller)) {
      place(answer, memberFields, { read, missing: null });
      place(answer, memberTexts, { read, missing: "" });
      answer["default_prompt_suggestions"] = options.suggestions();
      answer["permissions"] = options.defaultPermissions();
    }
    const constants = caller !== undefined && isMember(caller) ? memberConstants : {};
    return options.parts().reduce((merged, part) => merge(merged, part(caller)), merge(answer, constants));
  };
}

type Reader = (name: string) => unknown;

/** Reads a variable that may not exist, because its plugin is left out; secrets count as absent. */
function createReader(configuration: PublicConfigOptions["configuration"]): Reader {
  let known: ReadonlySet<string> | undefined;
  return (name) => {
    known ??= new Set(
      configuration.declarations().flatMap(({ variable }) => (variable.secret ? [] : [variable.name])),
    );
    return known.has(name) ? configuration.jsonOf(name) : undefined;
  };
}

function toFeatures(read: Reader, isSignedIn: boolean): Tree {
  const trustedHeader = read("WEBUI_AUTH_TRUSTED_EMAIL_HEADER");
  const names = isSignedIn ? [...publicFeatures, ...memberFeatures] : publicFeatures;
  return {
    auth: read("WEBUI_AUTH") ?? true,
    slim: read("USE_SLIM_DOCKER") ?? false,
    auth_trusted_header: typeof trustedHeader === "string" && trustedHeader !== "",
    enable_websocket: read("ENABLE_WEBSOCKET_SUPPORT") ?? false,
    ...Object.fromEntries(names.map((name) => [name, toFlag(name, read(name.toUpperCase()))])),
  };
}

/** A feature whose plugin is left out is off; the two that are no switches are texts then. */
function toFlag(name: string, value: unknown): unknown {
  return value ?? (name.startsWith("enable_") ? false : "");
}

interface PlaceOptions {
  readonly read: Reader;
  /** Stands for a variable that is not declared, not set or empty. */
  readonly missing: "" | null;
}

function place(
  answer: Tree,
  fields: Readonly<Record<string, string>>,
  { read, missing }: PlaceOptions,
): void {
  for (const [path, variable] of Object.entries(fields)) {
    const parts = path.split(".");
    const last = parts.pop() as string;
    const target = parts.reduce<Tree>((at, part) => (at[part] ??= {}) as Tree, answer);
    const value = read(variable);
    target[last] = value === undefined || value === null || value === "" ? missing : value;
  }
}

function merge(target: Tree, part: Readonly<Tree>): Tree {
  const merged = { ...target };
  for (const [key, value] of Object.entries(part)) {
    const own = merged[key];
    merged[key] = isTree(own) && isTree(value) ? merge(own, value) : value;
  }
  return merged;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
