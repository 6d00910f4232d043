import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineTool, type ToolRun, type ToolSource } from "#kernel/tools/tool.ts";
import { toText } from "../library/file-text.ts";
import type { Library } from "../library/library.ts";
import type { Listing } from "../library/listing.ts";
import { chooseSkills } from "./chosen-skills.ts";

/** Characters of a file that a model is given at once. */
const maxText = 100_000;

/** `view_skill` (contract §3.6): offered where skills are attached or mentioned, and reads those alone. */
export function createSkillTools({ listing, library }: { listing: Listing; library: Library }): ToolSource {
  const offered = async (principal: Principal, { request, model }: ToolRun) => {
    const { mentioned, asked, attached } = chooseSkills(request, model.meta);
    return await listing.among(principal, [...mentioned, ...asked, ...attached]);
  };

  return {
    id: "skills",
    granted: async () => [],
    async select({ principal, run }) {
      if (run === undefined || (await offered(principal, run)).length === 0) {
        return [];
      }
      const tool = defineTool({
        id: "skills.view_skill",
        title: "Read a skill",
        isParallel: true,
        spec: {
          name: "view_skill",
          description: "Reads the instructions of a skill, or one of its files.",
          parameters: {
            type: "object",
            properties: {
              name: { type: "string", description: "Name or id of the skill" },
              path: { type: "string", description: "A file of the skill; left out, its instructions" },
            },
            required: ["name"],
          },
        },
        // Access is asked anew at every call.
        async run({ name, path }, { principal: caller }) {
          const wanted = String(name ?? "").toLowerCase();
          const rows = await offered(caller, run);
          const row =
            rows.find(({ id }) => id === wanted) ?? rows.find((one) => one.name.toLowerCase() === wanted);
          if (row === undefined) {
            throw new AppError("not_found", "There is no such skill.");
          }
          if (typeof path !== "string" || path === "") {
            const { id, description, content } = row;
            return { id, name: row.name, description, content, files: await library.paths(id) };
          }
          const text = toText((await library.readFile(caller, row.id, path)).content);
          if (text === null) {
            throw new AppError("invalid", "This file is no text.");
          }
          return { id: row.id, path, content: text.slice(0, maxText), truncated: text.length > maxText };
        },
      });
      return [tool];
    },
  };
}
