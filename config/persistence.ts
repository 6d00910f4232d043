import { bool } from "./variable.ts";

/** The switches that decide whether stored values count; the registry itself obeys them. */
export const persistence = {
  persistentConfig: bool("ENABLE_PERSISTENT_CONFIG", true, {
    text: "Stored settings win over the environment; when off, the environment always wins and changes last for the running session only",
  }),
  oauthPersistentConfig: bool("ENABLE_OAUTH_PERSISTENT_CONFIG", false, {
    text: "OAuth settings are stored and can be changed while running; when off, they come from the environment and are read-only",
  }),
  resetConfigOnStart: bool("RESET_CONFIG_ON_START", false, {
    text: "Deletes all stored settings at the start, so that the environment counts again",
  }),
};
