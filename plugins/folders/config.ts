import { bool, int } from "#config/variable.ts";

export const folderVariables = {
  enabled: bool("ENABLE_FOLDERS", true, {
    key: "folders.enable",
    persisted: true,
    text: "Lets people with the permission features.folders keep chats in folders",
  }),
  maxFiles: int("FOLDER_MAX_FILE_COUNT", null, {
    key: "folders.max_file_count",
    persisted: true,
    min: 0,
    text: "Most files that one folder holds; empty for no limit",
  }),
};
