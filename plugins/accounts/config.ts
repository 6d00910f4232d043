import { z } from "zod";
import {
  bool,
  duration,
  grouped,
  int,
  json,
  list,
  oneOf,
  text,
  type Values,
  type Variable,
} from "#config/variable.ts";
import { isLongEnough, shortestPassword } from "./passwords/passwords.ts";
import { platformPermissions, toVariableName } from "./permissions/permissions.ts";
import { Email } from "./sign-in/auth-schema.ts";

const passwordPattern = String.raw`^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^A-Za-z0-9]).{8,}$`;
const Tree = z.record(z.string(), z.record(z.string(), z.boolean()));

const signUp = {
  signUp: bool("ENABLE_SIGNUP", true, {
    key: "ui.enable_signup",
    persisted: true,
    text: "Lets people create accounts",
  }),
  initialAdminSignUp: bool("ENABLE_INITIAL_ADMIN_SIGNUP", false, {
    text: "Lets the first account be created through the sign-up route while the login form is off",
  }),
  confirmPassword: bool("ENABLE_SIGNUP_PASSWORD_CONFIRMATION", false, {
    text: "Adds a field to the sign-up form in which the password is typed again",
  }),
  adminEmail: text("WEBUI_ADMIN_EMAIL", "", {
    check: (value) =>
      value === "" || Email.safeParse(value).success ? undefined : "must be an e-mail address",
    text: "With WEBUI_ADMIN_PASSWORD: address of the admin created at the first start; sign-up is then switched off",
  }),
  adminPassword: text("WEBUI_ADMIN_PASSWORD", "", {
    secret: true,
    check: (value) =>
      value === "" || isLongEnough(value) ? undefined : `must have at least ${shortestPassword} characters`,
    text: "Password of that admin, at least 8 characters",
  }),
  adminName: text("WEBUI_ADMIN_NAME", "Admin", { text: "Display name of that admin" }),
  defaultRole: oneOf("DEFAULT_USER_ROLE", ["pending", "user", "admin"], "pending", {
    key: "ui.default_user_role",
    persisted: true,
    text: "Role of new accounts",
  }),
  defaultGroup: text("DEFAULT_GROUP_ID", "", {
    key: "ui.default_group_id",
    persisted: true,
    text: "Group that new accounts join",
  }),
  defaultGroupShare: oneOf("DEFAULT_GROUP_SHARE_PERMISSION", ["members", "true", "false"], "members", {
    text: "Who may share with a new group: its members, everyone (true) or nobody (false)",
  }),
};

const signIn = {
  auth: bool("WEBUI_AUTH", true, {
    text: "Asks for an account; off, everybody is the one local admin. Only for a platform without accounts",
  }),
  passwordAuth: bool("ENABLE_PASSWORD_AUTH", true, {
    text: "Allows password sign-in; off, only for deployments whose single sign-on works",
  }),
  loginForm: bool("ENABLE_LOGIN_FORM", true, {
    key: "ui.enable_login_form",
    persisted: true,
    text: "Shows the e-mail and password form; off, local sign-up is refused",
  }),
  passwordChangeForm: bool("ENABLE_PASSWORD_CHANGE_FORM", true, {
    key: "ui.enable_password_change_form",
    persisted: true,
    text: "Shows the password change form in the account settings",
  }),
  hashAlgorithm: oneOf("PASSWORD_HASH_ALGORITHM", ["bcrypt", "argon2"], "bcrypt", {
    text: "How new passwords are hashed; existing hashes keep verifying. bcrypt refuses passwords over 72 bytes",
  }),
  validatePasswords: bool("ENABLE_PASSWORD_VALIDATION", false, {
    text: "Holds new passwords to PASSWORD_VALIDATION_REGEX_PATTERN",
  }),
  passwordPattern: text("PASSWORD_VALIDATION_REGEX_PATTERN", passwordPattern, {
    text: "Regular expression that new passwords have to match",
    check: (pattern) => (isPattern(pattern) ? undefined : "must be a regular expression"),
  }),
  passwordHint: text("PASSWORD_VALIDATION_HINT", "", {
    text: "Tells people what a new password has to look like",
  }),
  jwtLifetime: duration("JWT_EXPIRES_IN", "4w", {
    key: "auth.jwt_expiry",
    persisted: true,
    whenEmpty: { text: "-1", ms: null },
    text: "Lifetime of a session, such as 30m, 1d12h or 4w; -1 never ends",
  }),
  cookieSameSite: oneOf("WEBUI_AUTH_COOKIE_SAME_SITE", ["lax", "strict", "none"], "lax", {
    aliases: ["WEBUI_SESSION_COOKIE_SAME_SITE"],
    text: "SameSite attribute of the session cookie",
  }),
  cookieSecure: bool("WEBUI_AUTH_COOKIE_SECURE", false, {
    aliases: ["WEBUI_SESSION_COOKIE_SECURE"],
    text: "Marks the session cookie Secure; over https it always is",
  }),
  signOutRedirect: text("WEBUI_AUTH_SIGNOUT_REDIRECT_URL", "", {
    text: "Address that the web interface goes to after signing out",
  }),
};

const header = (name: string, tells: string) =>
  text(name, "", {
    check: (value) => (value === "" || isHeaderName(value) ? undefined : "must be a header name"),
    text: `Header by which a proxy in front tells ${tells}; FORWARDED_ALLOW_IPS says whose headers count`,
  });

const trusted = {
  trustedEmailHeader: header(
    "WEBUI_AUTH_TRUSTED_EMAIL_HEADER",
    "the address of whoever it has signed in, who then needs no password",
  ),
  trustedNameHeader: header("WEBUI_AUTH_TRUSTED_NAME_HEADER", "the name of a new account, URL-encoded"),
  trustedGroupsHeader: header(
    "WEBUI_AUTH_TRUSTED_GROUPS_HEADER",
    "at each sign-in the names of the only groups an account is in, separated by commas",
  ),
  trustedRoleHeader: header(
    "WEBUI_AUTH_TRUSTED_ROLE_HEADER",
    "at each sign-in an account's role: admin, user or pending",
  ),
};

const keys = {
  keyHeader: text("CUSTOM_API_KEY_HEADER", "x-api-key", {
    check: (name) => (isHeaderName(name) ? undefined : "must be a header name"),
    text: "Header that may carry the key or token in place of Authorization",
  }),
  apiKeys: bool("ENABLE_API_KEYS", true, {
    key: "auth.enable_api_keys",
    persisted: true,
    text: "Allows API keys to those who hold the permission features.api_keys, and to admins",
  }),
  restrictKeys: bool("ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS", false, {
    key: "auth.api_key.endpoint_restrictions",
    persisted: true,
    text: "Lets API keys call the paths of API_KEYS_ALLOWED_ENDPOINTS alone",
  }),
  keyEndpoints: list("API_KEYS_ALLOWED_ENDPOINTS", [], {
    key: "auth.api_key.allowed_endpoints",
    persisted: true,
    text: "Paths API keys may call, and everything below each of them",
  }),
};

const people = {
  permissions: json(
    "USER_PERMISSIONS",
    {},
    {
      schema: Tree,
      key: "user.permissions",
      persisted: true,
      text: "Default permissions as a tree of sections and keys; what it leaves out stays as built in",
    },
  ),
  showAdmin: bool("SHOW_ADMIN_DETAILS", true, {
    key: "auth.admin.show",
    persisted: true,
    text: "Shows pending accounts whom to ask",
  }),
  contactEmail: text("ADMIN_EMAIL", null, {
    key: "auth.admin.email",
    persisted: true,
    text: "Address shown to pending accounts; that of the first admin when not set",
  }),
  overlayTitle: text("PENDING_USER_OVERLAY_TITLE", "", {
    key: "ui.pending_user_overlay_title",
    persisted: true,
    whenEmpty: "",
    text: "Title of what a pending account sees",
  }),
  overlayContent: text("PENDING_USER_OVERLAY_CONTENT", "", {
    key: "ui.pending_user_overlay_content",
    persisted: true,
    whenEmpty: "",
    text: "Text of what a pending account sees",
  }),
  userStatus: bool("ENABLE_USER_STATUS", true, {
    key: "users.enable_status",
    persisted: true,
    text: "Lets people set a status",
  }),
  userWebhooks: bool("ENABLE_USER_WEBHOOKS", false, {
    key: "ui.enable_user_webhooks",
    persisted: true,
    text: "Lets people with the permission features.webhooks name an address for their notifications",
  }),
  interfaceDefaults: json(
    "DEFAULT_INTERFACE_SETTINGS",
    {},
    {
      schema: z.record(z.string(), z.unknown()),
      key: "ui.default_interface_settings",
      persisted: true,
      whenInvalid: {},
      text: "Starting values of the interface settings; what a person chose wins",
    },
  ),
  imageTypes: list(
    "PROFILE_IMAGE_ALLOWED_MIME_TYPES",
    ["image/png", "image/jpeg", "image/gif", "image/webp"],
    { check: checkTypes, text: "Types of inline profile images; SVG is refused in any case" },
  ),
  imageMaxLength: int("PROFILE_IMAGE_MAX_DATA_URI_SIZE", null, {
    min: 1,
    text: "Largest inline profile image, in characters of its data URI; not set, as large as a request",
  }),
  forwardImages: bool("ENABLE_PROFILE_IMAGE_URL_FORWARDING", true, {
    text: "Redirects to profile images that stand on other sites",
  }),
};

/** One start-up switch a permission, e.g. USER_PERMISSIONS_FEATURES_API_KEYS. */
const permissionSwitches = Object.fromEntries(
  platformPermissions.map(({ path, default: allowed }) => [
    path,
    bool(toVariableName(path), allowed, { text: `Built-in default of the permission ${path}` }),
  ]),
) as Record<`${string}.${string}`, Variable<boolean>>;

/** The plugin's variables (configuration document, authentication; contract 1.1 to 1.4). */
export const config = {
  ...grouped("Sign-up", signUp),
  ...grouped("Sign-in, sessions and passwords", signIn),
  ...grouped("API keys", keys),
  ...grouped("People", people),
  ...grouped("Sign-in by a proxy", trusted),
  ...grouped("Built-in permissions", permissionSwitches),
};

export type AccountsConfig = Values<typeof config>;

function isHeaderName(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name);
}

function checkTypes(types: readonly string[]): string | undefined {
  const wrong = types.find((type) => !/^image\/[\w.+-]+$/.test(type));
  return wrong === undefined
    ? undefined
    : `must list types of images such as image/png, which ${JSON.stringify(wrong)} is not`;
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").source.length > 0;
  } catch {
    return false;
  }
}
