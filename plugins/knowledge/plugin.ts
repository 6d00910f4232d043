import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional, provide } from "#kernel/service.ts";
import { events, grants, jobs, notices } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { accessPreviews, accounts, explainedResources } from "#plugins/accounts/service.ts";
import { audit } from "#plugins/audit/service.ts";
import { chats } from "#plugins/chats/service.ts";
import { contextItems } from "#plugins/completions/service.ts";
import { fileObservers, fileReferences, files } from "#plugins/files/service.ts";
import { folders } from "#plugins/folders/service.ts";
import { modelReferences, models } from "#plugins/models/service.ts";
import { collectionAccess, retrieval } from "#plugins/retrieval/service.ts";
import { existingCollections } from "./collections/collection-store.ts";
import { explainCollections } from "./collections/explain.ts";
import { knowledgeConfig } from "./config.ts";
import {
  createService,
  toCollectionAccess,
  toContextItems,
  toFileReference,
  toModelReferences,
  toPreview,
} from "./create-knowledge.ts";
import { createFileObserver } from "./files/observer.ts";
import { createKnowledge } from "./migrations/0001_knowledge.ts";

import { knowledge } from "./service.ts";
import { setUpKnowledge } from "./set-up.ts";
import { createKnowledgeTools } from "./tools/knowledge-tools.ts";
import { type KnowledgeTables, resourceType } from "./tables.ts";

export default definePlugin({
  id: "knowledge",
  title: "Knowledge",
  summary: "Collections of files that models answer from.",
  config: knowledgeConfig,
  uses: {
    access,
    accounts,
    audit: optional(audit),
    chats: optional(chats),
    events,
    files,
    folders: optional(folders),
    grants,
    hub,
    index: optional(retrieval),
    jobs,
    models,
    notices,
  },
  provides: [knowledge],
  tables: tables<KnowledgeTables>(
    "knowledge",
    "knowledge_file",
    "knowledge_directory",
    "knowledge_watch",
    "knowledge_watch_file",
  ),
  migrations: { "0001_knowledge": createKnowledge },
  resources: [resourceType],
  pages: [
    {
      id: "knowledge.list",
      path: "/workspace/knowledge",
      title: "Knowledge",
      icon: "library",
      place: "workspace",
      order: 15,
      access: "user",
    },
    {
      id: "knowledge.collection",
      path: "/workspace/knowledge/:id",
      title: "Collection",
      place: "hidden",
      access: "user",
    },
  ],

  setup(context) {
    const { parts, logic, jobs: ownJobs, routes, start } = setUpKnowledge(context);
    const { listing, linking } = logic;
    const { models: modelList, folders: chatFolders, chats: stored } = context.use;
    return {
      routes: { api: routes },
      services: [provide(knowledge, createService(parts, listing, linking))],
      fills: [
        fill(accessPreviews, toPreview(listing)),
        fill(collectionAccess, toCollectionAccess(parts)),
        fill(contextItems, toContextItems(listing)),
        fill(explainedResources, explainCollections(parts)),
        fill(fileObservers, createFileObserver(parts, linking)),
        fill(fileReferences, toFileReference(parts)),
        fill(modelReferences, toModelReferences(listing)),
      ],
      tools: [
        createKnowledgeTools(
          { parts, listing, models: modelList, folders: chatFolders, chats: stored },
          context.config,
        ),
      ],
      jobs: ownJobs,
      resources: { [resourceType]: (ids: readonly string[]) => existingCollections(context.db, ids) },
      start,
    };
  },
});
