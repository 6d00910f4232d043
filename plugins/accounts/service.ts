import type { PermissionTree } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Reply } from "#kernel/http/route.ts";
import { defineService, defineSlot } from "#kernel/service.ts";
import type { GrantInput } from "#storage/grants.ts";

/** The part of an account that lists of other records carry. */
export interface AccountSummary {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
}

/** The account's own words about itself; what is not filled in is null. */
export interface TemplateProfile {
  /** IANA time zone: the account's, or the server's. */
  readonly timeZone: string;
  readonly user: {
    readonly name: string;
    readonly email: string;
    readonly bio: string | null;
    readonly gender: string | null;
    /** `YYYY-MM-DD`. */
    readonly birthDate: string | null;
    readonly location: string | null;
    readonly groups: readonly string[];
  };
  /** Values of `{{user.variables.<key>}}`. */
  readonly userVariables: Readonly<Record<string, string>>;
}

/** Profile images under the instance's rules (configuration document, PROFILE_IMAGE_… and ENABLE_PROFILE_IMAGE_…). */
export interface Pictures {
  /** Throws `invalid`, or `too_large` where a limit is set, for an address or inline image that may not be stored. */
  require(value: string): string;
  /** Answers a stored one: its bytes, a redirect, or `fallback` (PNG bytes). */
  answer(
    value: string | null,
    how: { known?: string | undefined; fetchDest?: string | undefined; fallback(): Buffer },
  ): Reply;
}

/** User valves of functions or tools, stored below `<section>.valves.<id>` of an account's settings. */
export interface KeptValves {
  /** By function or tool id. */
  read(userId: string, section: "functions" | "tools"): Promise<Readonly<Record<string, unknown>>>;
  /** Replaces those of one function or tool. Throws `not_found` when the account is gone, `too_large` beyond 1 MiB in all. */
  write(userId: string, place: { section: "functions" | "tools"; id: string }, value: unknown): Promise<void>;
  /** Ids of the accounts that have some. */
  owners(section: "functions" | "tools"): Promise<string[]>;
  /** Takes those of one function or tool from every account. */
  drop(section: "functions" | "tools", id: string): Promise<void>;
}

/** Grants that somebody asks for, and what the kind of resource allows. */
export interface WantedGrants {
  readonly wanted: readonly GrantInput[];
  /** Grants that the resource has already. */
  readonly held: readonly GrantInput[];
  /** The permission for sharing with every account; without one nobody may. */
  readonly everybody?: string;
  /** The permission for sharing without sign-in; without one nobody may. */
  readonly anyone?: string;
}

/** The service of this plugin. */
export interface Accounts {
  /** Summaries of the accounts that exist, by id. */
  summaries(ids: readonly string[]): Promise<Map<string, AccountSummary>>;
  /** The caller that work on behalf of an account runs as; undefined when it is gone or pending. */
  principalOf(userId: string): Promise<Principal | undefined>;
  /**
   * What of the wanted grants is stored: what the caller may give to accounts and groups that exist, and what the
   * resource has already. The rest is left out without an error (contract §0).
   */
  givenGrants(caller: Principal, grants: WantedGrants): Promise<GrantInput[]>;
  /** True while no account exists. */
  isEmpty(): Promise<boolean>;
  /** Facts about the caller for system prompt templates: profile, time zone and group names. */
  templateFacts(principal: Principal): Promise<TemplateProfile>;
  /** The caller's settings object (`{ui: {…}}`), defaults filled in. */
  settingsOf(userId: string): Promise<Record<string, unknown>>;
  /** The rules of profile images, for records of other plugins that carry one. */
  readonly pictures: Pictures;
  readonly valves: KeptValves;
  /** Permissions of every account before its groups add to them. */
  defaultPermissions(): PermissionTree;
}

export const accounts = defineService<Accounts>("accounts");

/** Lists the things of one kind that an account can read; administrators look at it when they change access. */
export interface AccessPreview {
  readonly kind: "models" | "knowledge" | "tools";
  list(principal: Principal): Promise<readonly { readonly id: string; readonly name: string }[]>;
}

/** Filled by plugins whose rows are shared by access grants. */
export const accessPreviews = defineSlot<AccessPreview>("accounts.previews");

/** A way to a resource that is neither ownership nor a grant; `name` is what it goes through. */
export interface OtherWay {
  readonly rule: "administrator" | "open_to_all" | "connection" | "connection_group" | "folder";
  readonly permission: "read" | "write";
  readonly name?: string;
}

/** A kind of resource of which administrators ask why somebody can see it. */
export interface ExplainedResource {
  readonly kind: "model" | "chat" | "folder" | "tool";
  /** `resource_type` of its grants. */
  readonly grantType: string;
  /** By its id, also what the one who asks may not see; its id is its name then. */
  find(
    asker: Principal,
    id: string,
  ): Promise<{ readonly id: string; readonly name: string; readonly ownerId: string | null } | undefined>;
  /** The decision itself, made as for any request. */
  may(principal: Principal, id: string, permission: "read" | "write"): Promise<boolean>;
  /** The ways that stand open to the principal beside ownership and grants. */
  others(principal: Principal, id: string): Promise<readonly OtherWay[]>;
}

/** Filled by plugins whose resources are shared by access grants. */
export const explainedResources = defineSlot<ExplainedResource>("accounts.explained-resources");

/**
 * Fields of the interface settings that an account without them is given once; what becomes of them afterwards is the
 * account's own choice.
 */
export interface FirstSettings {
  fields(): Readonly<Record<string, unknown>>;
}

/** Filled by plugins whose settings name such starting values. */
export const firstSettings = defineSlot<FirstSettings>("accounts.first-settings");
