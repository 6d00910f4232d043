import type { Principal } from "#kernel/access/principal.ts";
import type { GrantInput } from "#storage/grants.ts";
import { announce, type SkillEvent, type SkillParts } from "../parts.ts";
import { resourceType, type SkillDatabase, type SkillRow } from "../tables.ts";
import { showSkill, toEntry } from "./record.ts";
import { lockSkill } from "./skill-store.ts";

/** The permission that opening a skill to everybody needs. */
export const everybody = "sharing.public_skills";

/** The form that every change of a stored skill has. */
export function createChanges(parts: SkillParts) {
  const { transaction, skills, grants, accounts } = parts;

  /** One change of a skill that the caller may write: locked, recorded, announced and shown. */
  async function change(
    caller: Principal,
    id: string,
    run: (tx: SkillDatabase, before: SkillRow) => Promise<{ after: SkillRow; event: SkillEvent }>,
  ) {
    await skills.load(caller, id, "write");
    const { after, event } = await transaction(async (tx) => {
      const before = await lockSkill(tx, id);
      const made = await run(tx, before);
      await parts.record(toEntry(made.event, { before, after: made.after }), tx);
      return made;
    });
    announce(parts, event, { by: caller, row: after });
    return await showSkill(parts, caller, after);
  }

  async function share(caller: Principal, id: string, wanted: readonly GrantInput[]) {
    const row = await skills.load(caller, id, "write");
    const held = await grants.list(resourceType, [id]);
    const given = await accounts.givenGrants(caller, { wanted, held, everybody });
    await transaction(async (tx) => {
      const before = await lockSkill(tx, id);
      await grants.replace(tx, resourceType, id, given);
      await parts.record(toEntry("access_updated", { before, after: before, grants: given }), tx);
    });
    announce(parts, "updated", { by: caller, row });
    return await showSkill(parts, caller, row);
  }

  return { change, share };
}

export type Changes = ReturnType<typeof createChanges>;
