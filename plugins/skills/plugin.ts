import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional } from "#kernel/service.ts";
import { events, grants } from "#kernel/services.ts";
import { accounts, explainedResources } from "#plugins/accounts/service.ts";
import { audit } from "#plugins/audit/service.ts";
import { contextSources } from "#plugins/completions/service.ts";
import { explainSkills } from "./library/explain.ts";
import { createLibrary } from "./library/library.ts";
import { createListing } from "./library/listing.ts";
import { existingSkills, findSkill } from "./library/skill-store.ts";
import { createSkills } from "./migrations/0001_skills.ts";
import type { SkillParts } from "./parts.ts";
import { skillRoutes } from "./routes.ts";
import { createSkillSource } from "./run/skill-source.ts";
import { createSkillTools } from "./run/view-skill.ts";
import { resourceType, type SkillRow, type SkillTables } from "./tables.ts";

export default definePlugin({
  id: "skills",
  title: "Skills",
  summary: "Sets of instructions that models read when they need them.",
  uses: { access, accounts, audit: optional(audit), events, grants },
  tables: tables<SkillTables>("skill", "skill_file"),
  migrations: { "0001_skills": createSkills },
  resources: [resourceType],
  pages: [
    {
      id: "skills.list",
      path: "/workspace/skills",
      title: "Skills",
      icon: "skill",
      place: "workspace",
      order: 17,
      access: "user",
    },
    { id: "skills.new", path: "/workspace/new-skill", title: "New skill", place: "hidden", access: "user" },
    { id: "skills.edit", path: "/workspace/skill/:id", title: "Skill", place: "hidden", access: "user" },
  ],

  setup({ db, transaction, use }) {
    const parts: SkillParts = {
      ...use,
      db,
      transaction,
      skills: use.access.loader<SkillRow>({
        type: resourceType,
        find: (id) => findSkill(db, id),
        ownerOf: (row) => row.user_id,
      }),
      record: async (entry, tx) => await use.audit?.record(entry, tx),
    };
    const logic = { library: createLibrary(parts), listing: createListing(parts) };
    return {
      routes: { api: skillRoutes(logic) },
      fills: [fill(contextSources, createSkillSource(logic)), fill(explainedResources, explainSkills(parts))],
      tools: [createSkillTools(logic)],
      resources: { [resourceType]: (ids: readonly string[]) => existingSkills(db, ids) },
    };
  },
});
