import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import type { AccountsDeps } from "../deps.ts";
import type { OutsideIdentity, OutsideRule } from "../service.ts";
import type { AccountsDatabase } from "../tables.ts";
import { toAllowedPicture } from "../users/profile-image.ts";
import {
  findUserByEmail,
  hasUsers,
  updateEmail,
  updateUser,
  userColumns,
  type UserRow,
} from "../users/users-store.ts";
import type { SignUp } from "./sign-up.ts";

/** The account that an outside identity signs in to; without one, `rule` says whether it is made or refused. */
export interface FoundAccount {
  readonly user: UserRow | undefined;
  readonly rule: OutsideRule;
}

/** Finds the account of an outside identity and the rule that decides it (appendix A6, OAuth). */
export async function findOutsideAccount(
  db: AccountsDatabase,
  { email, link }: Pick<OutsideIdentity, "email" | "link">,
): Promise<FoundAccount> {
  if (link === undefined) {
    const user = await findUserByEmail(db, email);
    return { user, rule: user === undefined ? "created" : "linked" };
  }
  const linked = await findLinked(db, link);
  if (linked !== undefined) {
    return { user: linked, rule: "linked" };
  }
  const named = await findUserByEmail(db, email);
  if (named === undefined) {
    // The first account of an installation is its administrator, whom no switch keeps out of an empty house.
    return { user: undefined, rule: link.signsUp || !(await hasUsers(db)) ? "created" : "no_sign_up" };
  }
  if (toSubject(named, link.provider) !== undefined) {
    return { user: named, rule: "other_person" };
  }
  if (!link.verified) {
    return { user: named, rule: "address_unverified" };
  }
  if (isProvisioned(named)) {
    return { user: named, rule: "provisioned" };
  }
  return { user: named, rule: link.merges ? "merged" : "address_taken" };
}

/** Finds, links or makes the account. Throws AppErrors whose `reason` is the rule that refused. */
export async function resolveOutsideAccount(
  deps: AccountsDeps,
  signUp: Pick<SignUp, "addTrusted">,
  identity: OutsideIdentity,
): Promise<UserRow> {
  const { link } = identity;
  const found = await findOutsideAccount(deps.db, identity);
  const text = refusals[found.rule];
  if (text !== undefined) {
    throw new AppError("forbidden", text, { reason: found.rule });
  }
  if (found.user === undefined) {
    const user = await signUp.addTrusted(identity);
    if (link !== undefined && toSubject(user, link.provider) !== link.subject) {
      // Another sign-in with this address was quicker; it is somebody else's until linked by the rules.
      throw new AppError("forbidden", refusals.address_taken ?? "", { reason: "address_taken" });
    }
    return user;
  }
  if (found.rule !== "linked" && link !== undefined) {
    await linkAccount(deps, found.user, link);
  }
  await applyUpdates(deps, found.user, identity);
  return found.user;
}

/** Rules that refuse, in words for who signs in. */
const refusals: Partial<Record<OutsideRule, string>> = {
  no_sign_up: "There is no account for you here, and none may be made. Ask an administrator.",
  address_taken: "An account with your e-mail address exists, and is not linked with this sign-in.",
  address_unverified:
    "An account with your e-mail address exists, and the provider has not verified that the address is yours.",
  other_person: "The account with your e-mail address belongs to another person at this provider.",
};

/** The account that is linked with a person of a provider. */
export async function findLinked(
  db: AccountsDatabase,
  { provider, subject }: { readonly provider: string; readonly subject: string },
): Promise<UserRow | undefined> {
  const wanted = JSON.stringify({ [provider]: { sub: subject } });
  return await db
    .selectFrom("user")
    .select(userColumns)
    .where(sql<boolean>`oauth @> ${wanted}::jsonb`)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
}

async function linkAccount(
  { transaction, changes }: AccountsDeps,
  { id }: UserRow,
  { provider, subject }: { readonly provider: string; readonly subject: string },
): Promise<void> {
  const added = JSON.stringify({ [provider]: { sub: subject } });
  await transaction((tx) =>
    sql`update "user" set oauth = coalesce(oauth, '{}'::jsonb) || ${added}::jsonb where id = ${id}`.execute(
      tx,
    ),
  );
  await changes.announce({ userId: id });
}

/** Name, e-mail and picture of the provider become the account's, where the settings want that. */
async function applyUpdates(deps: AccountsDeps, user: UserRow, identity: OutsideIdentity): Promise<void> {
  const { email, name, picture, updates } = identity;
  const image = updates?.picture === true ? toAllowedPicture(picture, deps.images) : undefined;
  const changes = {
    ...(updates?.name === true && name !== undefined && name !== user.name && { name }),
    ...(image !== undefined && { profile_image_url: image }),
  };
  const movesTo = updates?.email === true && email !== user.email ? email : undefined;
  if (Object.keys(changes).length === 0 && movesTo === undefined) {
    return;
  }
  await deps.transaction(async (tx) => {
    if (Object.keys(changes).length > 0) {
      await updateUser(tx, user.id, changes);
    }
    if (movesTo !== undefined && !(await updateEmail(tx, user.id, movesTo))) {
      deps.log.warn(
        { user: user.id },
        "the provider's new address of an account is another account's; kept the old one",
      );
    }
  });
  await deps.changes.announce({ userId: user.id });
}

function toSubject({ oauth }: UserRow, provider: string): string | undefined {
  return (oauth as Record<string, { sub?: string } | undefined> | null)?.[provider]?.sub;
}

/** An identity provider made the account (contract D.26): who has its verified address is that person. */
function isProvisioned({ scim }: UserRow): boolean {
  return scim !== null;
}
