import type { ExplainedResource } from "#plugins/accounts/service.ts";
import type { SkillParts } from "../parts.ts";
import { resourceType } from "../tables.ts";
import { findSkill } from "./skill-store.ts";

/** Tells administrators why somebody can use a skill. */
export function explainSkills({ db, skills, access }: SkillParts): ExplainedResource {
  return {
    kind: "skill",
    grantType: resourceType,
    async find(_asker, id) {
      const row = await findSkill(db, id);
      return row && { id, name: row.name, ownerId: row.user_id };
    },
    may: async (principal, id, permission) => (await skills.find(principal, id, permission)) !== undefined,
    others: async (principal) =>
      access.passes(principal)
        ? (["read", "write"] as const).map((permission) => ({ rule: "administrator", permission }))
        : [],
  };
}
