import type { Principal } from "#kernel/access/principal.ts";
import type { AccountsDeps } from "./deps.ts";
import { requireProfileImage, toProfileImageReply } from "./users/profile-image.ts";
import { findAccountFacts, toPrincipal } from "./sessions/principals.ts";
import type { Accounts, Provisioning, TemplateProfile } from "./service.ts";
import type { UserSettings } from "./settings/settings.ts";
import { toGivenGrants } from "./groups/sharing.ts";
import type { AccountsDatabase } from "./tables.ts";
import { createBots } from "./users/bots.ts";
import { createKeptValves } from "./settings/kept-valves.ts";
import { findUser, findUsers, hasUsers } from "./users/users-store.ts";

/** Creates the service of this plugin. */
export function createAccounts(
  { db, permissions, images, changes }: Pick<AccountsDeps, "db" | "permissions" | "images" | "changes">,
  {
    settings,
    provisioning,
  }: { settings: Pick<UserSettings, "read" | "variables">; provisioning: Provisioning },
): Accounts {
  return {
    async summaries(ids) {
      const rows = await findUsers(db, [...new Set(ids)]);
      return new Map(
        rows.map(({ id, name, email, role, is_bot: isBot }) => [
          id,
          { id, name, email, role: isBot ? "app" : role },
        ]),
      );
    },
    async principalOf(userId) {
      const facts = await findAccountFacts(db, userId);
      if (facts === undefined || !facts.active || facts.role === "pending") {
        return undefined;
      }
      return toPrincipal(facts, permissions, { credential: "session", session: null });
    },
    givenGrants: (caller, grants) => toGivenGrants(db, caller, grants),
    isEmpty: async () => !(await hasUsers(db)),
    templateFacts: async (principal) =>
      readTemplateFacts(db, principal, await settings.variables(principal.userId)),
    settingsOf: async (userId) => ({ ...(await settings.read(userId)) }),
    pictures: {
      require: (value) => requireProfileImage(value, images),
      answer: (value, how) => toProfileImageReply(value, images, how),
    },
    valves: createKeptValves(db),
    provisioning,
    bots: createBots(changes),
    defaultPermissions: () => permissions.current(),
  };
}

async function readTemplateFacts(
  db: AccountsDatabase,
  principal: Principal,
  userVariables: Readonly<Record<string, string>>,
): Promise<TemplateProfile> {
  const user = await findUser(db, principal.userId);
  const groups =
    principal.groupIds.length === 0
      ? []
      : await db
          .selectFrom("group")
          .select("name")
          .where("id", "in", principal.groupIds)
          .orderBy("name")
          .execute();
  const location = user?.info?.["location"];
  return {
    timeZone: user?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    user: {
      name: user?.name ?? principal.name,
      email: user?.email ?? principal.email,
      bio: user?.bio ?? null,
      gender: user?.gender ?? null,
      birthDate: user?.date_of_birth ?? null,
      location: typeof location === "string" ? location : null,
      groups: groups.map(({ name }) => name),
    },
    userVariables,
  };
}
