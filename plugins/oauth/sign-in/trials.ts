import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Seal } from "#kernel/seal.ts";
import { seconds } from "#storage/clock.ts";
import { toFailure } from "../failure.ts";
import type { Provider } from "../providers.ts";
import type { Decision } from "../rules.ts";
import type { OAuthDatabase } from "../tables.ts";
import { type CompletionParts, preview } from "./complete.ts";
import type { Returned } from "./flow.ts";

const Names = z.array(z.string());

/** What an administrator sees of a login that was tried. */
export const Trial = z.object({
  provider: z.object({ id: z.string(), label: z.string() }),
  ok: z.boolean(),
  /** The word that the sign-in page would show a text for; null where somebody would be signed in. */
  error: z.string().nullable(),
  reason: z.string().nullable(),
  /** The provider's answer; null when none came. */
  claims: z.record(z.string(), z.unknown()).nullable(),
  has_refresh_token: z.boolean(),
  decisions: z.array(
    z.object({
      about: z.enum(["person", "email", "domain", "role", "groups", "name", "picture"]),
      by: z.string(),
      ok: z.boolean(),
      detail: z.string(),
    }),
  ),
  /** What a sign-in would do; null where nobody signs in. */
  outcome: z
    .object({
      account: z.looseObject({ id: z.string(), name: z.string(), email: z.string() }).nullable(),
      rule: z.string(),
      email: z.string(),
      name: z.string(),
      role: z.string(),
      picture: z.string().nullable(),
      groups: z.object({ joins: Names, leaves: Names, creates: Names, unknown: Names }),
    })
    .nullable(),
});
export type Trial = z.output<typeof Trial>;

const keptSeconds = 15 * 60;
const refusing = new Set(["no_sign_up", "address_taken", "address_unverified", "other_person"]);

/** Looks at what a provider returned, or failed to, without signing anybody in. */
export async function judge(
  provider: Provider,
  read: () => Promise<Returned>,
  parts: Pick<CompletionParts, "config" | "signIn">,
): Promise<Trial> {
  const decisions: Decision[] = [];
  let returned: Returned | undefined;
  const base = () => ({
    provider: { id: provider.id, label: provider.label },
    claims: returned ? { ...returned.claims } : null,
    has_refresh_token: returned?.tokens.refreshToken !== undefined,
    decisions: decisions.map((each) => ({ ...each })),
  });
  try {
    returned = await read();
    const { person, outcome } = await preview(returned.claims, provider, parts, (each) =>
      decisions.push(each),
    );
    const { joins, leaves, creates, unknown } = outcome.groups;
    const isRefused = refusing.has(outcome.rule);
    return {
      ...base(),
      ok: !isRefused,
      error: isRefused ? outcome.rule : null,
      reason: null,
      outcome: {
        account: outcome.account && { ...outcome.account },
        rule: outcome.rule,
        email: outcome.email,
        name: person.identity.name ?? outcome.email,
        role: outcome.role,
        picture: person.pictureUrl ?? null,
        groups: { joins: [...joins], leaves: [...leaves], creates: [...creates], unknown: [...unknown] },
      },
    };
  } catch (error) {
    const { word, message } = toFailure(error);
    return { ...base(), ok: false, error: word, reason: message, outcome: null };
  }
}

/** Outcomes of tried logins, for the administrator who tried; encrypted, as they hold a person's claims. */
export function createTrials(db: OAuthDatabase, seal: Seal) {
  const at = (id: string) => `trial ${id}`;
  return {
    async keep(userId: string, trial: Trial): Promise<string> {
      const id = randomUUID();
      const row = {
        id,
        user_id: userId,
        result: seal.seal(trial, at(id)),
        expires_at: seconds() + keptSeconds,
      };
      await db.insertInto("oauth_trial").values(row).execute();
      return id;
    },
    async read(id: string, userId: string): Promise<Trial | undefined> {
      const row = await db
        .selectFrom("oauth_trial")
        .select("result")
        .where("id", "=", id)
        .where("user_id", "=", userId)
        .where("expires_at", ">", seconds())
        .executeTakeFirst();
      return row && (seal.open(row.result, at(id)) as Trial);
    },
    async sweep(): Promise<void> {
      await db.deleteFrom("oauth_trial").where("expires_at", "<=", seconds()).execute();
    },
  };
}

export type Trials = ReturnType<typeof createTrials>;
