import { core } from "#config/core.ts";
import { bool, grouped, int, json, list, oneOf, text, type Values } from "#config/variable.ts";
import { z } from "zod";
import { feishu, github, google, kept, microsoft, oidc } from "./provider-config.ts";

const general = {
  enabled: bool("ENABLE_OAUTH", true, kept("enable", "People sign in with the providers that are set up")),
  signUp: bool(
    "ENABLE_OAUTH_SIGNUP",
    false,
    kept("enable_signup", "A first sign-in through a provider makes an account"),
  ),
  autoRedirect: bool(
    "OAUTH_AUTO_REDIRECT",
    false,
    kept("auto_redirect", "The sign-in page leads to the provider at once, where there is only one"),
  ),
  mergeByEmail: bool(
    "OAUTH_MERGE_ACCOUNTS_BY_EMAIL",
    false,
    kept(
      "merge_accounts_by_email",
      "A first sign-in is linked with the account that has its verified address",
    ),
  ),
  updatePicture: bool(
    "OAUTH_UPDATE_PICTURE_ON_LOGIN",
    false,
    kept("update_picture_on_login", "Each sign-in replaces the account's picture with the provider's"),
  ),
  updateName: bool(
    "OAUTH_UPDATE_NAME_ON_LOGIN",
    false,
    kept("update_name_on_login", "Each sign-in replaces the account's name with the provider's"),
  ),
  updateEmail: bool(
    "OAUTH_UPDATE_EMAIL_ON_LOGIN",
    false,
    kept("update_email_on_login", "Each sign-in replaces the account's address with the provider's"),
  ),
  withoutEmail: bool(
    "ENABLE_OAUTH_WITHOUT_EMAIL",
    false,
    kept(
      "enable_without_email",
      "People whose provider names no address may sign in; they get a made-up one",
    ),
  ),
  allowedDomains: list(
    "OAUTH_ALLOWED_DOMAINS",
    ["*"],
    kept("allowed_domains", "Domains of e-mail addresses that may sign in; * is all"),
  ),
};

const claims = {
  usernameClaim: text(
    "OAUTH_USERNAME_CLAIM",
    "name",
    kept("username_claim", "Claim that holds a person's name"),
  ),
  emailClaim: text("OAUTH_EMAIL_CLAIM", "email", kept("email_claim", "Claim that holds the e-mail address")),
  pictureClaim: text(
    "OAUTH_PICTURE_CLAIM",
    "picture",
    kept("picture_claim", "Claim that holds the address of a picture; empty takes none"),
  ),
  subClaim: text("OAUTH_SUB_CLAIM", "", kept("sub_claim", "Claim that tells people apart; empty is sub")),
  groupClaim: text(
    "OAUTH_GROUP_CLAIM",
    "groups",
    kept("group_claim", "Claim that holds a person's groups; dots lead into objects"),
  ),
  rolesClaim: text(
    "OAUTH_ROLES_CLAIM",
    "roles",
    kept("roles_claim", "Claim that holds a person's roles; dots lead into objects"),
  ),
};

const roles = {
  manageRoles: bool(
    "ENABLE_OAUTH_ROLE_MANAGEMENT",
    false,
    kept("enable_role_management", "The provider's roles decide who may sign in and who is an administrator"),
  ),
  allowedRoles: list(
    "OAUTH_ALLOWED_ROLES",
    ["user", "admin"],
    kept("allowed_roles", "Roles of the provider whose people are members here; * is all"),
  ),
  adminRoles: list(
    "OAUTH_ADMIN_ROLES",
    ["admin"],
    kept("admin_roles", "Roles of the provider whose people are administrators here"),
  ),
  rolesSeparator: text(
    "OAUTH_ROLES_SEPARATOR",
    ",",
    kept("roles_separator", "Character between roles, where the claim is a text"),
  ),
};

const groups = {
  manageGroups: bool(
    "ENABLE_OAUTH_GROUP_MANAGEMENT",
    false,
    kept(
      "enable_group_mapping",
      "At each sign-in people join the groups that the provider names, and leave the others; administrators keep theirs",
    ),
  ),
  createGroups: bool(
    "ENABLE_OAUTH_GROUP_CREATION",
    false,
    kept("enable_group_creation", "Groups that the provider names and that do not exist yet are made"),
  ),
  groupShare: oneOf(
    "OAUTH_GROUP_DEFAULT_SHARE",
    ["true", "false", "members"],
    "true",
    kept(
      "group_default_share",
      "Who may share with groups that are made so: everybody, nobody or their members",
    ),
  ),
  blockedGroups: json<string[]>("OAUTH_BLOCKED_GROUPS", [], {
    schema: z.array(z.string().max(500)),
    ...kept(
      "blocked_groups",
      "Groups that sign-ins neither join nor leave nor make, as a JSON list; * and ? stand for any characters",
    ),
  }),
  groupsSeparator: text(
    "OAUTH_GROUPS_SEPARATOR",
    ";",
    kept("groups_separator", "Character between groups, where the claim is a text"),
  ),
};

const sessions = {
  idTokenCookie: bool("ENABLE_OAUTH_ID_TOKEN_COOKIE", true, {
    text: "The browser gets the provider's ID token in the cookie oauth_id_token",
  }),
  maxSessions: int("OAUTH_MAX_SESSIONS_PER_USER", 10, {
    min: 1,
    max: 1000,
    text: "Sign-ins of a person whose tokens of a provider are kept; older ones are forgotten",
  }),
  backchannelLogout: bool("ENABLE_OAUTH_BACKCHANNEL_LOGOUT", false, {
    text: "Providers end people's sessions by a call of /oauth/backchannel-logout",
  }),
  tokenExchange: bool("ENABLE_OAUTH_TOKEN_EXCHANGE", false, {
    text: "Programs change a person's token of a provider for a session",
  }),
  trustedClients: list("OAUTH_TOKEN_EXCHANGE_TRUSTED_CLIENT_IDS", [], {
    text: "Further clients of the provider whose tokens are changed for sessions",
  }),
  exchangeLimit: int("OAUTH_TOKEN_EXCHANGE_RATE_LIMIT", 15, {
    min: 1,
    text: "Exchanges of tokens from one address within the window",
  }),
  exchangeWindow: int("OAUTH_TOKEN_EXCHANGE_RATE_LIMIT_WINDOW", 180, {
    min: 1,
    text: "Seconds of that window",
  }),
};

export const oauthVariables = {
  ...grouped("Sign-in through providers", general),
  ...grouped("OpenID Connect provider", oidc),
  ...grouped("Claims", claims),
  ...grouped("Roles of the provider", roles),
  ...grouped("Groups of the provider", groups),
  ...grouped("Google", google),
  ...grouped("Microsoft", microsoft),
  ...grouped("GitHub", github),
  ...grouped("Feishu", feishu),
  ...grouped("Sessions of providers", sessions),
  sessionKey: core.oauthSessionKey,
  publicUrl: core.webuiUrl,
};

export type OAuthConfig = Values<typeof oauthVariables>;
