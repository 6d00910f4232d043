import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { AccountsDeps } from "../deps.ts";
import { requireRow } from "../require-row.ts";
import { type Invitation, invitationSeconds, invite, requirePasswords } from "../sign-in/invitations.ts";
import { findPrimaryAdmin } from "./users-store.ts";

export interface InvitedUser extends Invitation {
  readonly user_id: string;
  readonly name: string;
  readonly email: string;
}

/** Makes a link for each account by which the person chooses a password; earlier links are good no longer. */
export async function inviteUsers(
  { transaction, record, config }: Pick<AccountsDeps, "transaction" | "record" | "config">,
  caller: Principal,
  ids: readonly string[],
): Promise<InvitedUser[]> {
  requirePasswords(config);
  return await transaction(async (tx) => {
    const rows = await tx
      .selectFrom("user")
      .select(["id", "name", "email"])
      .where(sql<boolean>`id = any(${[...ids]}::text[])`)
      .where("is_bot", "=", false)
      .execute();
    const found = new Map(rows.map((row) => [row.id, row]));
    const users = [...new Set(ids)].map((id) => requireRow(found.get(id)));
    const primary = await findPrimaryAdmin(tx);
    if (primary !== undefined && primary.id !== caller.userId && found.has(primary.id)) {
      throw new AppError("forbidden", "Only the primary administrator may change this account.");
    }
    const links = await invite(
      tx,
      users.map(({ id }) => id),
      invitationSeconds,
    );
    for (const { id, name } of users) {
      await record({ action: "user.invited", object: { type: "user", id, name }, by: caller.userId }, tx);
    }
    return users.map(({ id, name, email }, index) => ({
      user_id: id,
      name,
      email,
      ...requireRow(links[index]),
    }));
  });
}
