import type { Migration } from "kysely/migration";
import { migration as accounts } from "./migrations/0001_accounts.ts";
import { migration as sessions } from "./migrations/0002_sessions.ts";
import { migration as proofs } from "./migrations/0003_proofs.ts";
import { migration as invitations } from "./migrations/0004_invitations.ts";

/** The plugin's migrations by name; a landed one is never edited. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001_accounts": accounts,
  "0002_sessions": sessions,
  "0003_proofs": proofs,
  "0004_invitations": invitations,
};
