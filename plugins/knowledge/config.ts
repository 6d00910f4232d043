import { bool, grouped, int, text } from "#config/variable.ts";
import { readingLimits } from "#plugins/files/service.ts";

/** Settings of collections (appendix A5) besides the limits that they share with files. */
export const knowledgeConfig = {
  ...grouped("Collections", {
    knowsExec: bool("ENABLE_KB_EXEC", false, {
      text: "One tool that runs commands over collections stands in for the tools that list, search and read",
      noEffect: "those tools are always offered",
    }),
    watched: text("KNOWLEDGE_WATCH", "", {
      text: "Folders of the server that collections are kept in step with, as folder=collection, separated by semicolons; a collection is named by its id or its name and made when there is none",
    }),
    watchInterval: int("KNOWLEDGE_WATCH_INTERVAL", 60, {
      min: 5,
      max: 86_400,
      text: "Seconds between two looks at the folders of KNOWLEDGE_WATCH",
    }),
  }),
  ...readingLimits,
};
