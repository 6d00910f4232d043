import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { ComposerTrigger } from "#plugins/web/kit/web.ts";
import type { SkillItem } from "./skills.ts";

const most = 12;

/** `$`: skills whose text goes along with the question. */
export const skillTrigger: ComposerTrigger = {
  character: "$",
  get title() {
    return t("Skills");
  },
  async list(query, signal) {
    const wanted = { query, is_active: "true", order_by: "name", direction: "asc" } as const;
    const { items } = await server
      .call("GET /api/v1/skills/list", { query: wanted, signal })
      .catch((error: unknown) => {
        // Deployments may have left skills out.
        if ([401, 403, 404].includes((error as { status?: number }).status ?? 0)) {
          return { items: [] as readonly SkillItem[] };
        }
        throw error;
      });
    return items.slice(0, most).map(({ id, name, description }) => ({
      id: `skill:${id}`,
      title: name,
      description: description || id,
      icon: "skill",
      pick: (composer) => composer.insert(`<$${id}|${name.replaceAll(/[<>|]/g, " ")}> `),
    }));
  },
};
