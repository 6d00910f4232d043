import type { PermissionTree } from "#kernel/access/permissions.ts";
import type { Principal, Role } from "#kernel/access/principal.ts";
import type { Reply, RequestInfo } from "#kernel/http/route.ts";
import { defineService, defineSlot } from "#kernel/service.ts";
import type { GrantInput } from "#storage/grants.ts";
import type { FactorAccount, NextStep, SecondFactor } from "./second-factor.ts";
import type { AuthMethod } from "./sessions/session.ts";
import type { Provisioning } from "./provisioning/service.ts";
import type { Bots } from "./users/bots-service.ts";

export type { FactorAccount, NextStep, SecondFactor } from "./second-factor.ts";
export { NextStep as NextStepShape, SessionObject } from "./sign-in/auth-schema.ts";
export type { AuthMethod } from "./sessions/session.ts";
/** Ends all sessions of an account, in the transaction that changes what it signs in with; resolves to the new stamp. */
export { bumpSessionStamp as endSessions } from "./users/users-store.ts";
export { type AppIdentity, type AppKeys, appKeys, type Bots } from "./users/bots-service.ts";
export type { ProvisionedAccount, Provisioning, ProvisioningWork } from "./provisioning/service.ts";

/** The part of an account that lists of other records carry. */
export interface AccountSummary {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** `app` for the account of a bot. */
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
  /** Accounts and groups in the hands of an identity provider (contract D.26, D.27). */
  readonly provisioning: Provisioning;
  readonly bots: Bots;
  /** Permissions of every account before its groups add to them. */
  defaultPermissions(): PermissionTree;
}

export const accounts = defineService<Accounts>("accounts");

/** A person as somebody outside names them, who has checked that it is they. */
export interface OutsideIdentity {
  readonly email: string;
  /** Of a new account; its address when left out. */
  readonly name?: string;
  /** Becomes the account's at each sign-in; left out, a new account gets the default role. */
  readonly role?: Role;
  /** Become the account's groups at each sign-in, those of administrators aside; left out, nothing changes. */
  readonly groups?: {
    readonly names: readonly string[];
    /** Makes groups of names that no group has. */
    readonly creates: boolean;
    /** The people who may share with groups that are made; DEFAULT_GROUP_SHARE_PERMISSION when left out. */
    readonly share?: boolean | "members";
    /** Groups that are neither joined nor left nor made. */
    readonly isBlocked?: (name: string) => boolean;
  };
  /** The person's account at a provider; left out, the address alone says who it is. */
  readonly link?: {
    readonly provider: string;
    readonly subject: string;
    /** The provider vouches that the address is this person's. */
    readonly verified: boolean;
    /** An account with this verified address is linked. */
    readonly merges: boolean;
    /** A person without an account gets one. */
    readonly signsUp: boolean;
  };
  /** `data:` address of an image. */
  readonly picture?: string | undefined;
  /** Parts of an existing account that are replaced at each sign-in. */
  readonly updates?: { readonly email: boolean; readonly name: boolean; readonly picture: boolean };
}

/** Decides whose account a sign-in is for; the last four refuse it. */
export type OutsideRule =
  | "linked"
  | "merged"
  | "provisioned"
  | "created"
  | "no_sign_up"
  | "address_taken"
  | "address_unverified"
  | "other_person";

/** What a sign-in would do. */
export interface OutsidePreview {
  /** Null where an account would be made. */
  readonly account: AccountSummary | null;
  readonly email: string;
  readonly role: string;
  readonly rule: OutsideRule;
  /** By name. */
  readonly groups: Readonly<Record<"joins" | "leaves" | "creates" | "unknown", readonly string[]>>;
}

/** Signs in people whose identity another plugin has checked: by a directory, or by an identity provider. */
export interface OutsideSignIn {
  /** False while ENABLE_PASSWORD_AUTH is off, or nobody signs in at all. */
  isPasswordOn(): boolean;
  /** Bounds tries to guess passwords, shared with the platform's own sign-in (contract 1.2). */
  readonly tries: {
    /** Throws `rate_limited`. */
    enter(subjects: readonly TrySubject[]): Promise<void>;
    giveBack(subjects: readonly TrySubject[]): Promise<void>;
  };
  /**
   * Starts a session, of a new account where there is none with that address; the answer holds it, and its headers the
   * cookie. Where a second factor is asked for, or the account is pending, the answer holds a `NextStep` instead, and the
   * headers a cookie by which the page `/auth` goes on: a plugin that redirects passes the headers on as they are. Throws
   * `invalid` for an address that is none, and for an account that is switched off.
   */
  signIn(
    identity: OutsideIdentity,
    how: {
      readonly method: "ldap" | "oauth";
      readonly request: RequestInfo;
      /** Told which account it is, before its session starts. */
      readonly onAccount?: (userId: string) => Promise<void>;
    },
  ): Promise<Reply>;
  /** The account that is linked with this person of a provider. */
  findLinked(link: { readonly provider: string; readonly subject: string }): Promise<string | undefined>;
  /** Ends all sessions of an account on every replica. */
  endSessions(userId: string): Promise<void>;
  /** Changes nothing. Throws `invalid` for an address that is none. */
  preview(identity: OutsideIdentity): Promise<OutsidePreview>;
}

/** A second factor as plugins bring it; asked at the end of every way to sign in, and never for API keys. */
export const secondFactors = defineSlot<SecondFactor>("accounts.second-factors");

/** Ends sign-ins that a second factor completes, and knows when people last proved who they are. */
export interface SessionStarts {
  /**
   * Starts a session of an account that has given its second factor. Throws `invalid` when it was changed, deleted or
   * switched off since `stamp` was read.
   */
  start(
    account: { readonly id: string; readonly stamp?: string | undefined },
    how: { readonly method: AuthMethod; readonly request: RequestInfo },
  ): Promise<Reply>;
  /** Undefined for an account that is gone or switched off. */
  find(id: string): Promise<(FactorAccount & { readonly name: string; readonly email: string }) | undefined>;
  /** True when this is the account's password. Throws `rate_limited` after too many wrong ones. */
  isPassword(userId: string, password: string): Promise<boolean>;
  /** Epoch seconds of the last proofs of who uses the caller's session; undefined for callers with an API key. */
  proofs(
    caller: Principal,
  ): Promise<
    { readonly provedAt: number; readonly factorAt: number | null; readonly method: string } | undefined
  >;
  /** Notes that the person has just proved once more who they are. */
  noteProof(caller: Principal, withFactor: boolean): Promise<void>;
  /** Call it after the transaction that ended sessions by `endSessions`, or when other sessions are refused by now. */
  changed(change: { readonly userId: string } | { readonly all: true }): Promise<void>;
  /** The challenge token, or "pending", of the sign-in that waits in this browser. */
  waiting(request: Pick<RequestInfo, "headers">): string | undefined;
  /** Id of the oldest administrator, whom no other one may lock out (contract 1.3). */
  primaryAdmin(): Promise<string | undefined>;
  /** Answers that a sign-in goes on with another step. */
  answer(step: NextStep, request: RequestInfo): Reply;
}

export const sessionStarts = defineService<SessionStarts>("accounts.session-starts");

export type TrySubject = `${"email" | "user" | "address"}:${string}`;

export const outsideSignIn = defineService<OutsideSignIn>("accounts.outside-sign-in");

/** Ends a session at the provider, too, that began it; resolves to the address where the browser goes for that. */
export type SignOutStep = (request: RequestInfo, userId: string | undefined) => Promise<string | undefined>;

/** Filled by plugins that sign people in by others. */
export const signOutSteps = defineSlot<SignOutStep>("accounts.sign-out-steps");

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
  readonly kind:
    | "model"
    | "chat"
    | "folder"
    | "tool"
    | "knowledge"
    | "prompt"
    | "skill"
    | "calendar"
    | "note";
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
