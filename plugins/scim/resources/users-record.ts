import { z } from "zod";
import { isObject, toObject } from "#config/json-values.ts";
import type { ProvisionedAccount } from "#plugins/accounts/service.ts";
import { userAttributes } from "../discovery/attributes.ts";
import { urns } from "../discovery/urns.ts";
import { refusal, requireSchema } from "../errors.ts";
import { toValue } from "../patch/values.ts";
import type { Email, State, UserState } from "./state.ts";

/** The columns of an account that SCIM shows. */
export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly scim: Record<string, unknown> | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** What is kept as `scim` of an account. */
interface Kept {
  readonly external_id?: string;
  /** SCIM_AUTH_PROVIDER when the external id was set. */
  readonly provider?: string;
  readonly name?: UserState["name"];
  /** The provider gives no displayName: the account's name is made of other parts. */
  readonly display?: "none";
  /** Left out while the login address is the only one. */
  readonly emails?: readonly Email[];
}

const Address = z.email({ pattern: z.regexes.html5Email });
const longestAddress = 320;
const longestName = 200;

/** What a provider can write of the account, in the words of SCIM. */
export function toUserState(row: UserRow): UserState {
  const kept = toObject(row.scim) as Kept;
  return {
    userName: row.email,
    ...(kept.display !== "none" && { displayName: row.name }),
    ...toName(row, kept),
    emails: structuredClone(kept.emails ?? loginAddress(row.email)) as Email[],
    active: row.role !== "pending",
    ...(kept.external_id !== undefined && { externalId: kept.external_id }),
  };
}

function toName({ name }: UserRow, kept: Kept): Pick<UserState, "name"> {
  if (kept.name !== undefined) {
    return Object.keys(kept.name).length === 0 ? {} : { name: { ...kept.name } };
  }
  const space = name.indexOf(" ");
  // The same split stands in SQL in filter/columns.ts.
  return space === -1
    ? { name: { formatted: name, givenName: name } }
    : { name: { formatted: name, givenName: name.slice(0, space), familyName: name.slice(space + 1) } };
}

function loginAddress(email: string): Email[] {
  return [{ value: email, type: "work", primary: true, implied: true }];
}

/** Reads the body of a POST or PUT; `active` is the state of an account whose provider does not say. Throws `invalid`. */
export function readUser(body: unknown, { active }: { active: boolean }): UserState {
  if (!isObject(body)) {
    throw refusal("invalidSyntax", "The body must be an object.");
  }
  const fields = new Map(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]));
  requireSchema(fields.get("schemas"), urns.user, "invalidValue");
  const state: State = { active };
  for (const attribute of userAttributes) {
    const given = attribute.mutability === "readOnly" ? undefined : fields.get(attribute.name.toLowerCase());
    const value = toValue(attribute, given);
    if (value !== undefined) {
      state[attribute.name] = value;
    }
  }
  if (state["userName"] === undefined) {
    throw refusal("invalidValue", "userName is missing.");
  }
  const user = state as unknown as UserState;
  if ((user.emails ?? []).filter(({ primary }) => primary === true).length > 1) {
    throw refusal("invalidValue", "emails: only one of them can be primary.");
  }
  return user;
}

/**
 * The account that a state makes. `before` is the state that it comes from: an address that follows the userName goes
 * along with it. Throws `invalid` (invalidValue) for a userName that is no e-mail address.
 */
export function toAccount(
  state: UserState,
  { before, provider }: { before: UserState | undefined; provider: string },
): ProvisionedAccount {
  const email = requireAddress(state.userName);
  const name = state.displayName ?? joinName(state.name) ?? state.userName;
  if (name.trim() === "" || name.length > longestName) {
    throw refusal("invalidValue", `The name must have 1 to ${longestName} characters.`);
  }
  const emails = toEmails(state, { email, before });
  const scim: Kept = {
    ...(state.externalId !== undefined && {
      external_id: state.externalId,
      ...(provider !== "" && { provider }),
    }),
    name: state.name ?? {},
    ...(state.displayName === undefined && { display: "none" as const }),
    ...(!isLoginAddress(emails, email) && { emails }),
  };
  return { email, name, active: state.active, scim: { ...scim } };
}

function requireAddress(userName: string): string {
  const email = userName.trim().toLowerCase();
  if (email.length > longestAddress || !Address.safeParse(email).success) {
    throw refusal("invalidValue", "userName must be an e-mail address.");
  }
  return email;
}

function joinName(name: UserState["name"]): string | undefined {
  const joined = [name?.givenName, name?.familyName].filter((part) => part !== undefined).join(" ");
  return name?.formatted ?? (joined === "" ? undefined : joined);
}

/** Addresses without a value say nothing; the one that was the old userName becomes the new one. */
function toEmails(
  { emails }: UserState,
  { email, before }: { email: string; before: UserState | undefined },
): Email[] {
  const old = before?.userName.toLowerCase();
  const isUntouched = old !== undefined && old !== email && isSame(emails, before?.emails);
  const given = emails ?? loginAddress(email);
  return given
    .filter((each) => each.value !== undefined)
    .map(withoutMark)
    .map((each) => (isUntouched && each.value?.toLowerCase() === old ? { ...each, value: email } : each));
}

function withoutMark(email: Email): Email {
  const shown = { ...email };
  delete shown.implied;
  return shown;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isLoginAddress(emails: readonly Email[], email: string): boolean {
  const [only] = emails;
  return (
    emails.length === 1 &&
    only?.value === email &&
    (only.type ?? "work") === "work" &&
    only.primary === true &&
    only.display === undefined
  );
}

/** A group of a user, as the user's record shows it. */
export interface HeldGroup {
  readonly id: string;
  readonly name: string;
}

/** The whole resource (RFC 7643, 4.1); `base` is the absolute address of the surface. */
export function toUserResource(row: UserRow, groups: readonly HeldGroup[], base: string): State {
  const { emails, ...state } = toUserState(row);
  return {
    schemas: [urns.user],
    id: row.id,
    ...state,
    ...(emails !== undefined && emails.length > 0 && { emails: emails.map(withoutMark) }),
    groups: groups.map(({ id, name }) => ({
      value: id,
      $ref: `${base}/Groups/${id}`,
      display: name,
      type: "direct",
    })),
    meta: toMeta("User", row, `${base}/Users/${row.id}`),
  };
}

/** The `meta` of a resource; times of the database are epoch seconds. */
export function toMeta(
  resourceType: "User" | "Group",
  row: { readonly created_at: number; readonly updated_at: number },
  location: string,
) {
  return {
    resourceType,
    created: new Date(row.created_at * 1000).toISOString(),
    lastModified: new Date(row.updated_at * 1000).toISOString(),
    location,
  };
}
