import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, provide } from "#kernel/service.ts";
import { events, grants } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { accounts, explainedResources } from "#plugins/accounts/service.ts";
import { explainFolders } from "./explain.ts";
import { chatFolders, folderChats } from "#plugins/chats/service.ts";
import { promptSources } from "#plugins/completions/service.ts";
import { fileReferences, files } from "#plugins/files/service.ts";
import { modelReferences } from "#plugins/models/service.ts";
import { folderVariables } from "./config.ts";
import {
  createFoldersService,
  createIsOpen,
  toChatFolders,
  toFileReference,
  toPromptSource,
} from "./fills.ts";
import { createFolderActions } from "./folders.ts";
import { createFolders } from "./migrations/0001_folders.ts";
import { type FolderParts, resourceType } from "./parts.ts";
import { folderRoutes, sharingRoutes, treeRoutes } from "./routes.ts";
import { folders } from "./service.ts";
import { createFolderSharing } from "./sharing.ts";
import { existingFolders, findFolder, type FolderRow } from "./store.ts";
import type { FolderTables } from "./tables.ts";
import { createFolderTree } from "./tree.ts";

export default definePlugin({
  id: "folders",
  title: "Chat folders",
  summary: "Folders of chats with instructions of their own.",
  config: folderVariables,
  uses: { access, accounts, chats: folderChats, events, files, grants, hub, references: modelReferences },
  provides: [folders],
  tables: tables<FolderTables>("folder"),
  migrations: { "0001_folders": createFolders },
  permissions: [
    { path: "features.folders", default: true },
    { path: "sharing.folders", default: false },
  ],
  resources: [resourceType],
  enabled: (config) => config.enabled,

  setup({ config, use, db, transaction }) {
    const parts: FolderParts = {
      ...use,
      db,
      transaction,
      maxFiles: () => config.maxFiles,
      folders: use.access.loader<FolderRow>({
        type: resourceType,
        find: (id) => findFolder(db, id),
        ownerOf: (row) => row.user_id,
        // Folders hold chats, and of these only what ENABLE_ADMIN_CHAT_ACCESS says is open to administrators.
        adminPasses: false,
      }),
    };
    const isOpen = createIsOpen(() => config.enabled);
    return {
      routes: {
        api: [
          ...folderRoutes(createFolderActions(parts)),
          ...treeRoutes(createFolderTree(parts)),
          ...sharingRoutes(createFolderSharing(parts)),
        ],
      },
      services: [provide(folders, createFoldersService(parts, isOpen))],
      fills: [
        fill(explainedResources, explainFolders(parts)),
        fill(chatFolders, toChatFolders(parts, isOpen)),
        fill(fileReferences, toFileReference(parts, isOpen)),
        fill(promptSources, toPromptSource(parts, isOpen)),
      ],
      resources: { [resourceType]: (ids: readonly string[]) => existingFolders(db, ids) },
    };
  },
});
