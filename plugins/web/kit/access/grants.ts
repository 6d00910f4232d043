/** One right of somebody on something, as it is sent and answered. */
export interface Grant {
  readonly principal_type: "user" | "group" | "anyone";
  readonly principal_id: string;
  readonly permission: "read" | "write";
}

/** Who may open a link besides those who are named. */
export type Audience = "named" | "members" | "anyone";

const everyMember: Grant = { principal_type: "user", principal_id: "*", permission: "read" };
const anyone: Grant = { principal_type: "anyone", principal_id: "*", permission: "read" };

export function audienceOf(grants: readonly Grant[]): Audience {
  if (grants.some(({ principal_type: type }) => type === "anyone")) {
    return "anyone";
  }
  return grants.some((grant) => isEverybody(grant)) ? "members" : "named";
}

/** The grants with another audience; people and groups that are named stay. */
export function withAudience(grants: readonly Grant[], audience: Audience): Grant[] {
  const named = namedOf(grants);
  // A link for anyone is open to those who are signed in as well.
  return audience === "named" ? named : [...named, audience === "anyone" ? anyone : everyMember];
}

/** Grants to single people and groups. */
export function namedOf(grants: readonly Grant[]): Grant[] {
  return grants
    .filter((grant) => grant.principal_type !== "anyone" && !isEverybody(grant))
    .map(({ principal_type, principal_id, permission }) => ({ principal_type, principal_id, permission }));
}

export function withNamed(grants: readonly Grant[], kind: "user" | "group", id: string): Grant[] {
  const grant: Grant = { principal_type: kind, principal_id: id, permission: "read" };
  return [...withoutNamed(grants, kind, id), grant];
}

/** The grants with all that one party may do; who may change something may read it. */
export function withRight(
  grants: readonly Grant[],
  { kind, id }: { kind: "user" | "group"; id: string },
  permission: Grant["permission"],
): Grant[] {
  const named = withNamed(grants, kind, id);
  return permission === "read"
    ? named
    : [...named, { principal_type: kind, principal_id: id, permission: "write" }];
}

/** One grant for each party that is named, whatever number of rights it has. */
export function partiesOf(grants: readonly Grant[]): Grant[] {
  const byParty = new Map(
    namedOf(grants).map((grant) => [`${grant.principal_type} ${grant.principal_id}`, grant]),
  );
  return [...byParty.values()];
}

export function withoutNamed(grants: readonly Grant[], kind: "user" | "group", id: string): Grant[] {
  return toSent(grants).filter(
    ({ principal_type: type, principal_id }) => type !== kind || principal_id !== id,
  );
}

/** Answered grants without what only answers carry. */
export function toSent(grants: readonly Grant[]): Grant[] {
  return grants.map(({ principal_type, principal_id, permission }) => ({
    principal_type,
    principal_id,
    permission,
  }));
}

/** True when both lists give the same rights: what somebody may not give is left out of an answer without an error. */
export function isSame(one: readonly Grant[], other: readonly Grant[]): boolean {
  const keys = (grants: readonly Grant[]) =>
    grants.map((grant) => `${grant.principal_type} ${grant.principal_id} ${grant.permission}`).toSorted();
  return keys(one).join("\n") === keys(other).join("\n");
}

function isEverybody({ principal_type: type, principal_id: id }: Grant): boolean {
  return type === "user" && id === "*";
}
