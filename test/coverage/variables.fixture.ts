/** A variable as the specification states it. */
export interface ExpectedVariable {
  readonly name: string;
  readonly type: string;
  /** As text: JSON for structured values, `empty` for nothing, words in brackets for a computed one. */
  readonly default: string;
  readonly persisted: boolean;
  /** The plugin that declares it (or core), or "not yet". */
  readonly owner: string;
  /** `key=…` where the specification names the key of the stored setting, `was=…` for a former name. */
  readonly notes: Readonly<Record<string, string>>;
}

/** Configuration document, Authentication, and the variables of the other two documents. */
const signIn = `
ENABLE_SIGNUP | bool | true | persisted | accounts
ENABLE_INITIAL_ADMIN_SIGNUP | bool | false | start-up | accounts
ENABLE_SIGNUP_PASSWORD_CONFIRMATION | bool | false | start-up | accounts
WEBUI_ADMIN_EMAIL | str | empty | start-up | accounts
WEBUI_ADMIN_PASSWORD | str | empty | start-up | accounts
WEBUI_ADMIN_NAME | str | Admin | start-up | accounts
ENABLE_LOGIN_FORM | bool | true | persisted | accounts
ENABLE_PASSWORD_CHANGE_FORM | bool | true | persisted | accounts
PASSWORD_HASH_ALGORITHM | str | bcrypt | start-up | accounts
ENABLE_PASSWORD_AUTH | bool | true | start-up | accounts
DEFAULT_USER_ROLE | str | pending | persisted | accounts
DEFAULT_GROUP_ID | str | empty | persisted | accounts
DEFAULT_GROUP_SHARE_PERMISSION | str | members | start-up | accounts
PENDING_USER_OVERLAY_TITLE | str | empty | persisted | accounts
PENDING_USER_OVERLAY_CONTENT | str | empty | persisted | accounts
WEBUI_URL | str | empty | persisted | core
ADMIN_EMAIL | str | empty | persisted | accounts
SHOW_ADMIN_DETAILS | bool | true | persisted | accounts
BYPASS_MODEL_ACCESS_CONTROL | bool | false | start-up | core
BYPASS_RETRIEVAL_ACCESS_CONTROL | bool | false | start-up | retrieval
ENABLE_RETRIEVAL_UNSCOPED_COLLECTIONS | bool | false | start-up | retrieval
FORWARDED_ALLOW_IPS | str | * | start-up | core
ENABLE_PROFILE_IMAGE_URL_FORWARDING | bool | true | start-up | accounts
ENABLE_API_KEYS | bool | true | persisted | accounts | key=auth.enable_api_keys
CUSTOM_API_KEY_HEADER | str | x-api-key | start-up | accounts
USER_PERMISSIONS_FEATURES_API_KEYS | bool | false | start-up | accounts
SCIM_ENABLED | bool | false | start-up | scim
SCIM_TOKEN | str | empty | start-up | scim
`;

/** Configuration document, Persistence rules. */
const persistence = `
ENABLE_PERSISTENT_CONFIG | bool | true | start-up | core
ENABLE_OAUTH_PERSISTENT_CONFIG | bool | false | start-up | core
RESET_CONFIG_ON_START | bool | false | start-up | core
`;

/** Configuration document, Features and defaults. */
const features = `
ENABLE_API_OUTLET_FILTERS | bool | true | start-up | completions
DEFAULT_LOCALE | str | empty | persisted | settings
DEFAULT_MODELS | str | empty | persisted | models
MODEL_ORDER_LIST | json | [] | persisted | models
DEFAULT_PINNED_MODELS | str | empty | persisted | models
DEFAULT_MODEL_METADATA | json | {} | persisted | models | key=models.default_metadata
DEFAULT_MODEL_PARAMS | json | {} | persisted | models | key=models.default_params
DEFAULT_INTERFACE_SETTINGS | json | {} | persisted | accounts | key=ui.default_interface_settings
DEFAULT_PROMPT_SUGGESTIONS | json | empty | persisted | settings
ENABLE_CALENDAR | bool | true | persisted | calendar
ENABLE_CHANNELS | bool | false | persisted | channels
ENABLE_APPS | bool | false | persisted | apps
APP_ALLOWED_PRIVATE_ORIGINS | str | empty | start-up | apps
CHANNEL_MODEL_RESPONSE_MODE | str | thread | persisted | channels
ENABLE_FOLDERS | bool | true | persisted | folders
FOLDER_MAX_FILE_COUNT | int | empty | persisted | folders
ENABLE_AUTOMATIONS | bool | true | persisted | automations
AUTOMATION_MAX_COUNT | int | empty | persisted | automations
AUTOMATION_MIN_INTERVAL | int | empty | persisted | automations
AUTOMATION_AUTH_TOKEN_EXPIRES_IN | duration | 1h | persisted | automations
ENABLE_SUBAGENTS | bool | false | persisted | subagents
SUBAGENTS_BACKGROUND_ENABLED | bool | false | persisted | subagents
SUBAGENTS_MAX_CONCURRENT | int | 20 | persisted | subagents
SUBAGENTS_MAX_ASYNC | int | 20 | persisted | subagents
SUBAGENTS_MAX_ITERATIONS | int | 30 | persisted | subagents
SUBAGENTS_MAX_OUTPUT | int | 30000 | persisted | subagents
SUBAGENTS_SYSTEM_PROMPT | str | empty | persisted | subagents
SCHEDULER_POLL_INTERVAL | int | 10 | start-up | core | was=AUTOMATION_POLL_INTERVAL
TIMER_POLL_INTERVAL | int | 1 | start-up | timers
CALENDAR_ALERT_LOOKAHEAD_MINUTES | int | 10 | start-up | calendar
ENABLE_NOTES | bool | true | persisted | notes
ENABLE_MEMORIES | bool | true | persisted | memories
ENABLE_MEMORY_SYSTEM_CONTEXT | bool | true | persisted | memories
WEBHOOK_URL | str | empty | persisted | notifications | key=webhook_url
ENABLE_EASTER_EGGS | bool | true | start-up | settings
ENABLE_TITLE_GENERATION | bool | true | persisted | chat-tasks
ENABLE_CODE_EXECUTION | bool | true | persisted | code-execution
CODE_EXECUTION_ENGINE | str | pyodide | persisted | code-execution
CODE_EXECUTION_JUPYTER_URL | str | empty | persisted | code-execution
CODE_EXECUTION_JUPYTER_AUTH | str | empty | persisted | code-execution
CODE_EXECUTION_JUPYTER_AUTH_TOKEN | str | empty | persisted | code-execution
TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE | str | empty | persisted | completions
`;

/** Configuration document, Runtime, streaming and timeouts. */
const runtime = `
ENV | str | dev | start-up | core
WEBUI_NAME | str | Millrace | start-up | core
CUSTOM_NAME | str | empty | start-up | core
DEPLOYMENT_ID | str | empty | start-up | core
INSTANCE_ID | str | [random UUID per start] | start-up | core
PORT | int | 8080 | start-up | core
ENABLE_REALTIME_CHAT_SAVE | bool | false | start-up | runs
ENABLE_CHAT_RESPONSE_BASE64_IMAGE_URL_CONVERSION | bool | false | start-up | runs
ENABLE_CHAT_RESPONSE_STREAM_INPLACE_APPEND | bool | false | start-up | runs
ENABLE_IMAGE_CONTENT_TYPE_EXTENSION_FALLBACK | bool | false | start-up | runs
PROFILE_IMAGE_ALLOWED_MIME_TYPES | str | image/png,image/jpeg,image/gif,image/webp | start-up | accounts
PROFILE_IMAGE_MAX_DATA_URI_SIZE | int | empty | start-up | accounts
CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE | int | 1 | start-up | completions
CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE | int | empty | start-up | core
CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS | int | 256 | start-up | runs | was=CHAT_RESPONSE_MAX_TOOL_CALL_RETRIES
ENABLE_RESPONSES_API_STATEFUL | bool | false | start-up | core
ENABLE_COMPRESSION_MIDDLEWARE | bool | true | start-up | core
ENABLE_ORJSON | bool | true | start-up | core
AIOHTTP_CLIENT_TIMEOUT | int | empty | start-up | core
AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT | int | empty | start-up | core
AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST | int | 10 | start-up | core
AIOHTTP_CLIENT_TIMEOUT_OPENAI_MODEL_LIST | int | empty | start-up | core
AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER | int | empty | start-up | core
AIOHTTP_CLIENT_SESSION_SSL | bool or str | true | start-up | core
AIOHTTP_CLIENT_SSL_CERT_FILE | str | empty | start-up | core
AIOHTTP_CLIENT_ALLOW_REDIRECTS | bool | false | start-up | core
EXTERNAL_PWA_MANIFEST_URL | str | empty | start-up | settings
SSL_ASSERT_FINGERPRINT | str | empty | start-up | core
LICENSE_KEY | str | empty | start-up | core
LICENSE_BLOB_PATH | str | [<DATA_DIR>/l.data] | start-up | core
LICENSE_PUBLIC_KEY | str | empty | start-up | core
WEBUI_BUILD_HASH | str | dev-build | start-up | core
WEBUI_BANNERS | json | [] | persisted | settings
USE_CUDA_DOCKER | bool | false | start-up | core
USE_SLIM_DOCKER | bool | false | start-up | core
DOCKER | bool | false | start-up | core
USE_CUDA | bool | false | start-up | core
DEVICE_TYPE | str | [cpu] | start-up | core
`;

/** Every variable that the specification names. */
export const specifiedVariables: readonly ExpectedVariable[] = [signIn, persistence, features, runtime]
  .flatMap((section) => section.trim().split("\n"))
  .map(toExpected);

function toExpected(line: string): ExpectedVariable {
  const [name, type, value, persisted, owner, ...notes] = line.split("|").map((cell) => cell.trim());
  if (!name || !type || !value || !owner || (persisted !== "persisted" && persisted !== "start-up")) {
    throw new Error(`This line is no variable: ${line}`);
  }
  return {
    name,
    type,
    default: value,
    persisted: persisted === "persisted",
    owner,
    notes: Object.fromEntries(notes.map((note) => note.split("=", 2) as [string, string])),
  };
}
