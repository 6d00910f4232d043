import { firstCharacters } from "#kernel/first-characters.ts";
import { createHash } from "node:crypto";
import type { OutsideIdentity } from "#plugins/accounts/service.ts";
import { type Claims, fitsPattern, readClaim, readList, readText } from "./claims.ts";
import type { OAuthConfig } from "./config.ts";
import { SignInFailure, type SignInError } from "./failure.ts";
import type { Provider } from "./providers.ts";

/** One rule that was looked at, in words for administrators. */
export interface Decision {
  readonly about: "person" | "email" | "domain" | "role" | "groups" | "name" | "picture";
  /** The variable that decides. */
  readonly by: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A person as the settings read the claims. */
export interface Person {
  readonly identity: OutsideIdentity & { readonly link: NonNullable<OutsideIdentity["link"]> };
  readonly subject: string;
  readonly emailVerified: boolean | undefined;
  /** Address of a picture, not fetched yet. */
  readonly pictureUrl: string | undefined;
}

interface Reading {
  readonly claims: Claims;
  readonly provider: Provider;
  readonly config: OAuthConfig;
  tell(about: Decision["about"], by: string, detail: string): void;
  refuse(word: SignInError, decision: Omit<Decision, "ok">): never;
}

/** Reads a person out of claims; throws SignInFailure where a rule refuses. `onDecision` hears of every rule. */
export function toPerson(
  claims: Claims,
  { provider, config }: { readonly provider: Provider; readonly config: OAuthConfig },
  onDecision: (decision: Decision) => void = () => undefined,
): Person {
  const reading: Reading = {
    claims,
    provider,
    config,
    tell: (about, by, detail) => onDecision({ about, by, ok: true, detail }),
    refuse(word, decision) {
      onDecision({ ...decision, ok: false });
      throw new SignInFailure(word, decision.detail);
    },
  };
  const subject = readSubject(reading);
  const verified = isVerified(claims, provider);
  const email = readEmail(reading, { subject, verified });
  checkDomain(reading, { email, verified });
  const role = config.manageRoles ? readRole(reading) : undefined;
  const groups = config.manageGroups ? readGroups(reading) : undefined;
  const name = readName(reading);
  const picture = config.pictureClaim === "" ? undefined : readText(claims, config.pictureClaim);
  const { mergeByEmail: merges, signUp: signsUp } = config;
  return {
    subject,
    emailVerified: verified,
    pictureUrl: picture ?? (provider.pictureUrl || undefined),
    identity: {
      email,
      ...(name !== undefined && { name }),
      ...(role !== undefined && { role }),
      ...(groups !== undefined && { groups }),
      link: { provider: provider.id, subject, verified: verified === true, merges, signsUp },
      updates: {
        email: config.updateEmail && verified !== false,
        name: config.updateName,
        picture: config.updatePicture,
      },
    },
  };
}

function readSubject({ claims, provider, config, tell, refuse }: Reading): string {
  const claim = (provider.id === "oidc" && config.subClaim) || "sub";
  const by = "OAUTH_SUB_CLAIM";
  const subject = readText(claims, claim);
  if (subject === undefined) {
    return refuse("provider", { about: "person", by, detail: `The claim ${claim} is missing.` });
  }
  tell("person", by, `${claim} = ${subject}`);
  return subject;
}

function readName({ claims, config: { usernameClaim: claim }, tell }: Reading): string | undefined {
  const said = readText(claims, claim);
  const name = said && firstCharacters(said, 200);
  const shown = name === undefined ? `${claim} is missing: the address stands for it` : `${claim} = ${name}`;
  tell("name", "OAUTH_USERNAME_CLAIM", shown);
  return name;
}

const verifiedWords = {
  true: "verified",
  false: "not verified",
  undefined: "the provider does not say whether it is verified",
};

function readEmail(
  { claims, provider, config, tell, refuse }: Reading,
  { subject, verified }: { readonly subject: string; readonly verified: boolean | undefined },
): string {
  const { emailClaim: claim } = config;
  const found = readText(claims, claim)?.toLowerCase();
  if (found !== undefined) {
    tell("email", "OAUTH_EMAIL_CLAIM", `${claim} = ${found} (${verifiedWords[`${verified}`]})`);
    return found;
  }
  const by = "ENABLE_OAUTH_WITHOUT_EMAIL";
  if (!config.withoutEmail) {
    const detail = `The claim ${claim} is missing, and people without an address may not sign in.`;
    return refuse("no_email", { about: "email", by, detail });
  }
  const made = toMadeAddress(provider.id, subject);
  tell("email", by, `no address: ${made} stands for it`);
  return made;
}

function checkDomain(
  { config, tell, refuse }: Reading,
  { email, verified }: { readonly email: string; readonly verified: boolean | undefined },
): void {
  const allowed = config.allowedDomains.map((domain) => domain.toLowerCase().replace(/^@/, ""));
  if (allowed.includes("*")) {
    return;
  }
  const domain = email.slice(email.lastIndexOf("@") + 1);
  const by = "OAUTH_ALLOWED_DOMAINS";
  if (!allowed.includes(domain)) {
    const detail = `${domain} is none of ${allowed.join(", ") || "no domains"}.`;
    refuse("domain", { about: "domain", by, detail });
  }
  if (verified === false) {
    const detail = `The provider has not verified ${email}, so that it proves no domain.`;
    refuse("address_unverified", { about: "domain", by, detail });
  }
  tell("domain", by, `${domain} is allowed`);
}

function readRole({ claims, config, tell, refuse }: Reading): "admin" | "user" {
  const { rolesClaim: claim, adminRoles, allowedRoles } = config;
  const said = readList(claims, claim, config.rolesSeparator) ?? [];
  const shown = `${claim} = ${said.join(", ") || "none"}`;
  const admin = said.find((each) => adminRoles.includes(each));
  if (admin !== undefined) {
    tell("role", "OAUTH_ADMIN_ROLES", `${shown}: "${admin}" makes an administrator`);
    return "admin";
  }
  const by = "OAUTH_ALLOWED_ROLES";
  const member = allowedRoles.includes("*") ? "*" : said.find((each) => allowedRoles.includes(each));
  if (member === undefined) {
    const detail = `${shown}: none of these may sign in (allowed: ${allowedRoles.join(", ") || "none"}).`;
    return refuse("role", { about: "role", by, detail });
  }
  tell("role", by, `${shown}: "${member}" makes a member`);
  return "user";
}

function readGroups({ claims, config, tell }: Reading): OutsideIdentity["groups"] | undefined {
  const by = "OAUTH_GROUP_CLAIM";
  const { groupClaim: claim } = config;
  const said = readList(claims, claim, config.groupsSeparator);
  if (said === undefined) {
    tell("groups", by, `${claim} is missing: groups stay as they are`);
    return undefined;
  }
  const names = said.map((each) => firstCharacters(each, 200));
  const isBlocked = (name: string) => fitsPattern(name, config.blockedGroups);
  const blocked = names.filter(isBlocked);
  tell("groups", by, `${claim} = ${names.join(", ") || "none"}`);
  if (blocked.length > 0) {
    tell("groups", "OAUTH_BLOCKED_GROUPS", `left alone: ${blocked.join(", ")}`);
  }
  return { names, creates: config.createGroups, share: shares[config.groupShare], isBlocked };
}

const shares = { true: true, false: false, members: "members" } as const;

/**
 * True when the address is the person's own. Providers say so in `email_verified`, Entra in `xms_edov`; undefined where
 * nothing is said. An address of another tenant that is open to all is not verified.
 */
function isVerified(claims: Claims, { id, vouchesForEmail }: Provider): boolean | undefined {
  const said =
    readClaim(claims, "email_verified") ?? (id === "microsoft" ? readClaim(claims, "xms_edov") : undefined);
  if (said !== undefined && said !== null) {
    return said === true || said === "true" || said === 1 || said === "1";
  }
  return id === "microsoft" ? vouchesForEmail : undefined;
}

/** An address that no mail reaches, the same at each sign-in. */
function toMadeAddress(provider: string, subject: string): string {
  const isPlain = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(subject);
  const name = isPlain
    ? subject.toLowerCase()
    : createHash("sha256").update(subject).digest("hex").slice(0, 32);
  return `${provider}@${name}.local`;
}
