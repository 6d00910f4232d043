import type { ContextSource } from "#plugins/completions/service.ts";
import type { Library } from "../library/library.ts";
import type { Listing } from "../library/listing.ts";
import type { SkillRow } from "../tables.ts";
import { chooseSkills, isAnyChosen } from "./chosen-skills.ts";

/**
 * Puts skills into the system prompt (contract §3.2, step 8): those that the person mentioned with their text; those
 * that request and model bring along as a list, or with their text where no tool could read them. Everybody is given
 * what they may read themselves: a model lends no skills.
 */
export function createSkillSource({
  listing,
  library,
}: {
  listing: Listing;
  library: Library;
}): ContextSource {
  return {
    id: "skills",
    isNeeded: ({ request, model }) => isAnyChosen(chooseSkills(request, model.meta)),
    async gather({ principal, request, model, mode }) {
      const { mentioned, asked, attached } = chooseSkills(request, model.meta);
      const rows = await listing.among(principal, [...mentioned, ...asked, ...attached]);
      const known = new Set(rows.map(({ id }) => id));
      const isFull = ({ id }: SkillRow) => mode === "legacy" || mentioned.includes(id);
      const full = await Promise.all(
        rows
          .filter(isFull)
          .map(async (row) => toBlock(row, mode === "native" ? await library.paths(row.id) : [])),
      );
      const listed = rows.filter((row) => !isFull(row));
      return {
        sources: [],
        instructions: [...full, ...(listed.length > 0 ? [toList(listed)] : [])].join("\n\n") || undefined,
        problems: [...new Set([...mentioned, ...asked])]
          .filter((id) => !known.has(id))
          .map((id) => `The skill "${id}" is not there, not in use, or not shared with you.`),
      };
    },
  };
}

function toBlock({ id, name, content }: SkillRow, paths: readonly string[]): string {
  const files =
    paths.length === 0
      ? ""
      : `\n\nFiles of this skill, which view_skill reads by name "${id}" and path: ${paths.join(", ")}`;
  return `<skill name="${escape(name)}">\n${content}${files}\n</skill>`;
}

function toList(rows: readonly SkillRow[]): string {
  const items = rows.map(
    ({ id, name, description }) =>
      `<skill>\n<id>${id}</id>\n<name>${escape(name)}</name>\n<description>${escape(description)}</description>\n</skill>`,
  );
  return `<available_skills>\n${items.join("\n")}\n</available_skills>\n\nEach of these skills is a set of instructions. Before you do what one describes, read it with the tool view_skill.`;
}

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
