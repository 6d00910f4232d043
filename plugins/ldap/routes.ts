import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Logger } from "#kernel/log.ts";
import { isMasked, maskKey } from "#kernel/upstream/mask.ts";
import type { OutsideSignIn } from "#plugins/accounts/service.ts";
import type { LdapConfig } from "./config.ts";
import { type Directory, type DirectoryPerson, type Step } from "./directory.ts";

export interface LdapRouteParts {
  readonly config: LdapConfig;
  readonly configuration: ConfigRegistry;
  readonly directory: Directory;
  readonly signIn: OutsideSignIn;
  readonly log: Logger;
}

const Credentials = z.object({ user: z.string().max(256), password: z.string().max(1024) });
const Session = z.looseObject({ token: z.string() });

/** The same words whether the person does not exist, has another password, or no address. */
const wrong = "The name or the password is not right.";

/** Sign-in at the directory, its settings and a dry run: `/api/v1/auths` (contract §1.2, appendix A8). */
export function ldapRoutes(parts: LdapRouteParts) {
  return [signInRoute(parts), ...switchRoutes(parts), ...serverRoutes(parts), tryRoute(parts)];
}

function signInRoute({ config, directory, signIn, log }: LdapRouteParts) {
  return defineRoute(
    {
      method: "POST",
      path: "/auths/ldap",
      summary: "Sign in at the directory",
      access: "public",
      body: Credentials,
      maxBody: 16 * 1024,
      returns: Session,
      fails: [400, 403, 413, 429, 503],
    },
    async ({ body, request }) => {
      if (!signIn.isPasswordOn()) {
        throw new AppError("forbidden", "Signing in with a password is switched off.");
      }
      if (!config.enabled) {
        throw new AppError("invalid", "Signing in at a directory is switched off.");
      }
      const subjects = [`user:ldap:${body.user.trim().toLowerCase()}`, `address:${request.address}`] as const;
      await signIn.tries.enter(subjects);
      const found = await directory.check(body);
      if (found.kind === "failed") {
        log.warn({ reason: found.reason }, "the directory could not be asked");
        throw new AppError(
          "invalid",
          "The directory cannot be asked at the moment. Try again, or ask an administrator.",
        );
      }
      if (found.kind === "refused") {
        throw new AppError("invalid", wrong);
      }
      await signIn.tries.giveBack(subjects);
      return await signIn.signIn(toIdentity(found.person, config), { method: "ldap", request });
    },
  );
}

function toIdentity({ email, name, groups }: DirectoryPerson, { createGroups }: LdapConfig) {
  return { email, name, ...(groups && { groups: { names: groups, creates: createGroups } }) };
}

const Switch = z.object({ ENABLE_LDAP: z.boolean() });

function switchRoutes({ config, configuration }: LdapRouteParts) {
  const facts = { path: "/auths/admin/config/ldap", access: "admin", returns: Switch } as const;
  return [
    defineRoute({ method: "GET", ...facts, summary: "Whether people sign in at the directory" }, () => ({
      ENABLE_LDAP: config.enabled,
    })),
    defineRoute(
      {
        method: "POST",
        ...facts,
        summary: "Switch sign-in at the directory",
        body: z.object({ enable_ldap: z.boolean() }),
      },
      async ({ body, caller }) => {
        await configuration.set({ ENABLE_LDAP: body.enable_ldap }, caller.userId);
        return { ENABLE_LDAP: config.enabled };
      },
    ),
  ];
}

/** Field of the form → variable (appendix A8). */
const fields = {
  label: "LDAP_SERVER_LABEL",
  host: "LDAP_SERVER_HOST",
  port: "LDAP_SERVER_PORT",
  attribute_for_mail: "LDAP_ATTRIBUTE_FOR_MAIL",
  attribute_for_username: "LDAP_ATTRIBUTE_FOR_USERNAME",
  app_dn: "LDAP_APP_DN",
  app_dn_password: "LDAP_APP_PASSWORD",
  search_base: "LDAP_SEARCH_BASE",
  search_filters: "LDAP_SEARCH_FILTERS",
  use_tls: "LDAP_USE_TLS",
  certificate_path: "LDAP_CA_CERT_FILE",
  validate_cert: "LDAP_VALIDATE_CERT",
  ciphers: "LDAP_CIPHERS",
  enable_group_management: "ENABLE_LDAP_GROUP_MANAGEMENT",
  enable_group_creation: "ENABLE_LDAP_GROUP_CREATION",
  attribute_for_groups: "LDAP_ATTRIBUTE_FOR_GROUPS",
} as const;
const required = ["label", "host", "attribute_for_mail", "attribute_for_username", "search_base"] as const;

const text = z.string().max(2000);
const Server = z.object({
  label: text,
  host: text,
  port: z.int().min(1).max(65_535).nullish(),
  attribute_for_mail: text.default("mail"),
  attribute_for_username: text.default("uid"),
  app_dn: text.default(""),
  app_dn_password: text.default(""),
  search_base: text,
  search_filters: text.default(""),
  use_tls: z.boolean().default(true),
  certificate_path: text.nullish(),
  validate_cert: z.boolean().default(true),
  ciphers: text.nullish(),
  enable_group_management: z.boolean().default(false),
  enable_group_creation: z.boolean().default(false),
  attribute_for_groups: text.default("memberOf"),
});

function serverRoutes({ config, configuration }: LdapRouteParts) {
  const facts = { path: "/auths/admin/config/ldap/server", access: "admin", returns: Server } as const;
  const read = (): z.output<typeof Server> => ({
    label: config.label,
    host: config.hosts.join(", "),
    port: config.port,
    attribute_for_mail: config.mailAttribute,
    attribute_for_username: config.usernameAttribute,
    app_dn: config.appDn,
    app_dn_password: maskKey(config.appPassword),
    search_base: config.searchBase,
    search_filters: config.searchFilters,
    use_tls: config.useTls,
    certificate_path: config.caFile,
    validate_cert: config.validateCert,
    ciphers: config.ciphers,
    enable_group_management: config.manageGroups,
    enable_group_creation: config.createGroups,
    attribute_for_groups: config.groupsAttribute,
  });
  return [
    defineRoute({ method: "GET", ...facts, summary: "Read the settings of the directory" }, read),
    defineRoute(
      {
        method: "POST",
        ...facts,
        summary: "Change the settings of the directory",
        body: Server,
        fails: [400],
      },
      async ({ body, caller }) => {
        const empty = required.find((field) => body[field].trim() === "");
        if (empty !== undefined) {
          throw new AppError("invalid", `${empty} must not be empty.`);
        }
        const { certificate_path: caFile, ciphers, port, ...rest } = body;
        const given = {
          ...rest,
          port: port ?? 389,
          certificate_path: caFile ?? "",
          ciphers: ciphers ?? "ALL",
        };
        const changes = Object.entries(given)
          // A shown password stands for the stored one.
          .filter(([field, value]) => field !== "app_dn_password" || !isMasked(String(value)))
          .map(([field, value]) => [fields[field as keyof typeof fields], value]);
        await configuration.set(Object.fromEntries(changes) as Record<string, unknown>, caller.userId);
        return read();
      },
    ),
  ];
}

const Names = z.array(z.string());
const Tried = z.object({
  ok: z.boolean(),
  /** In the order in which they were taken. */
  steps: z.array(
    z.object({
      step: z.enum(["connect", "search", "password"]),
      ok: z.boolean(),
      detail: z.string(),
      ms: z.number(),
    }),
  ),
  reason: z.string().nullable(),
  person: z
    .object({ dn: z.string(), email: z.string(), name: z.string(), groups: Names.nullable() })
    .nullable(),
  /** What a sign-in would do with the account; null where nobody signs in. */
  outcome: z
    .object({
      account: z.looseObject({ id: z.string(), name: z.string() }).nullable(),
      role: z.string(),
      groups: z.object({ joins: Names, leaves: Names, creates: Names, unknown: Names }),
    })
    .nullable(),
});

function tryRoute({ config, directory, signIn }: LdapRouteParts) {
  return defineRoute(
    {
      method: "POST",
      path: "/auths/admin/config/ldap/try",
      summary: "Try a sign-in at the directory without signing anybody in",
      access: "admin",
      body: Credentials,
      returns: Tried,
    },
    async ({ body }) => {
      const steps: Step[] = [];
      const found = await directory.check(body, (step) => steps.push(step));
      if (found.kind !== "known") {
        const reason = found.kind === "failed" ? found.reason : wrong;
        return { ok: false, steps, reason, person: null, outcome: null };
      }
      const { person } = found;
      const { account, role, groups } = await signIn.preview(toIdentity(person, config));
      const lists = {
        joins: [...groups.joins],
        leaves: [...groups.leaves],
        creates: [...groups.creates],
        unknown: [...groups.unknown],
      };
      return {
        ok: true,
        steps,
        reason: null,
        person: { ...person, groups: person.groups ? [...person.groups] : null },
        outcome: { account: account && { ...account }, role, groups: lists },
      };
    },
  );
}
