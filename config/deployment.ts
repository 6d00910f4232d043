import { list, text } from "./variable.ts";

/** Which plugins this process runs. */
export const deployment = {
  pluginsDisabled: list("PLUGINS_DISABLED", [], {
    text: "Ids of plugins that are left out: not set up, not migrated, their routes answer 404",
  }),
  pluginsPath: text("PLUGINS_PATH", null, {
    text: "Folder whose subfolders each hold a plugin.ts of a further plugin",
  }),
};
