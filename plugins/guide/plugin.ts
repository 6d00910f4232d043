import { bool } from "#config/variable.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { models } from "#plugins/models/service.ts";
import { createGuide, guideId, guideName } from "./provider.ts";
import { createSearch } from "./search.ts";
import { readSections } from "./sections.ts";

export default definePlugin({
  id: "guide",
  title: "Guide",
  summary: "The built-in model that answers from the documentation.",
  config: {
    enabled: bool("ENABLE_GUIDE", true, {
      key: "guide.enable",
      persisted: true,
      text: "The built-in model that answers from the platform's own documentation",
    }),
  },
  uses: { models },
  enabled: (config) => config.enabled,

  async setup({ use }) {
    const provider = createGuide(createSearch(await readSections()));
    return {
      providers: [provider],
      start: () =>
        use.models.seed({
          id: guideId,
          name: guideName,
          meta: {
            description: "Answers questions about this platform from its documentation. No language model.",
            capabilities: { usage: true, vision: false, file_upload: false },
            suggestion_prompts: [
              { title: ["How do I", "connect a model?"], content: "How do I connect a model?" },
              { title: ["How do I", "write a plugin?"], content: "How do I write a plugin?" },
            ],
          },
        }),
    };
  },
});
