import { bool } from "#config/variable.ts";

export const noteVariables = {
  enabled: bool("ENABLE_NOTES", true, {
    key: "notes.enable",
    persisted: true,
    text: "Lets people with the permission features.notes write notes, alone and together",
  }),
};
