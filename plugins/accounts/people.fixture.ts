import type { Role } from "#kernel/access/principal.ts";
import { openTestAccounts } from "./accounts.fixture.ts";
import type { AccountChange } from "./account-changes.ts";
import { createUser, type UserRow } from "./users/users-store.ts";

/** The plugin's parts on a real database, with a note of what was announced and of the system events. */
export async function openPeople() {
  const { database, deps, emitted } = await openTestAccounts();
  const announced: AccountChange[] = [];
  let age = 0;
  return {
    ...deps,
    database,
    announced,
    events: emitted,
    // Noted where they are sent: what arrives comes twice, at once and by way of the database.
    changes: {
      ...deps.changes,
      async announce(change: AccountChange) {
        announced.push(change);
        await deps.changes.announce(change);
      },
    },
    /** Adds an account; the first one added is the oldest. */
    async add(name: string, role: Role = "user"): Promise<UserRow> {
      const created = { created_at: 1_700_000_000 + age++ };
      const email = `${name.toLowerCase()}@example.com`;
      const user = await createUser(deps.db, { email, name, role, passwordHash: "none", more: created });
      return user as UserRow;
    },
  };
}

export type People = Awaited<ReturnType<typeof openPeople>>;
