import { core } from "#config/core.ts";
import { bool, grouped, list, text, type Values } from "#config/variable.ts";

const shortestKey = 16;

/** The plugin's variables (contract 1.2, MFA; appendix A6). */
export const mfaVariables = {
  ...grouped("Second factor", {
    enabled: bool("ENABLE_MFA", false, {
      key: "auth.mfa.enable",
      persisted: true,
      text: "Asks for a second factor at sign-in: a code of an app, a passkey or a recovery code. API keys and SCIM are not subject to it",
    }),
    oauthBypass: bool("MFA_ALLOW_OAUTH_BYPASS", false, {
      key: "auth.mfa.allow_oauth_bypass",
      persisted: true,
      text: "Asks for no second factor after a sign-in at an identity provider, which asks for its own",
    }),
    headerBypass: bool("MFA_ALLOW_TRUSTED_HEADER_BYPASS", false, {
      key: "auth.mfa.allow_trusted_header_bypass",
      persisted: true,
      text: "Asks for no second factor where a proxy in front signs people in",
    }),
    roles: list("MFA_REQUIRED_ROLES", ["user", "admin"], {
      key: "auth.mfa.required_roles",
      persisted: true,
      none: true,
      check: (roles) =>
        roles.every((role) => role === "user" || role === "admin")
          ? undefined
          : "may name user and admin, or be none",
      text: "Roles that have to set a second factor up: user, admin, or none; others may",
    }),
    groups: list("MFA_REQUIRED_GROUPS", [], {
      key: "auth.mfa.required_groups",
      persisted: true,
      text: "Ids of groups whose members have to set a second factor up, whatever their role",
    }),
    encryptionKey: text("MFA_ENCRYPTION_KEY", "", {
      secret: true,
      check: (value) =>
        value === "" || value.length >= shortestKey
          ? undefined
          : `must have at least ${shortestKey} characters`,
      text: "Key that encrypts the secrets of code apps; empty derives one from WEBUI_SECRET_KEY",
    }),
  }),
  publicUrl: core.webuiUrl,
};

export type MfaConfig = Values<typeof mfaVariables>;
