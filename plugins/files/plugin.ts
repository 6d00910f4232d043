import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { provide } from "#kernel/service.ts";
import { blobs, deployment, events, jobs, notices } from "#kernel/services.ts";
import { filesConfig } from "./config.ts";
import { migration as files0001 } from "./migrations/0001_files.ts";
import { migration as files0002 } from "./migrations/0002_file_hash.ts";
import {
  chatFileLists,
  fileIndexes,
  fileObservers,
  fileProcessors,
  fileReferences,
  files,
  passageSearches,
} from "./service.ts";
import { setUpFiles } from "./setup.ts";
import type { FilesTables } from "./tables.ts";

export default definePlugin({
  id: "files",
  title: "Files",
  summary: "Uploads, and the text that is read out of them.",
  config: filesConfig,
  uses: {
    access,
    blobs,
    deployment,
    events,
    jobs,
    notices,
    processors: fileProcessors,
    references: fileReferences,
    observers: fileObservers,
    indexes: fileIndexes,
    chats: chatFileLists,
    searches: passageSearches,
  },
  provides: [files],
  tables: tables<FilesTables>("file"),
  migrations: { "0001_files": files0001, "0002_file_hash": files0002 },
  pages: [
    { id: "files", path: "/files/:id", title: "File", icon: "file", place: "hidden", access: "user" },
    {
      id: "files.own",
      path: "/settings/files",
      title: "Files",
      icon: "file",
      place: "settings",
      order: 4.5,
      access: "user",
    },
  ],
  permissions: [{ path: "chat.file_upload", default: true }],

  setup({ config, use, db, log, signal }) {
    const { routes, service, jobs, tools, start } = setUpFiles({ config, ...use, db, log, stopping: signal });
    return { routes: { api: routes }, services: [provide(files, service)], jobs, tools, start };
  },
});
