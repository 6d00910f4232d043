import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional } from "#kernel/service.ts";
import { events, grants } from "#kernel/services.ts";
import { accounts, explainedResources } from "#plugins/accounts/service.ts";
import { audit } from "#plugins/audit/service.ts";
import { explainPrompts } from "./library/explain.ts";
import { createHistory } from "./library/history.ts";
import { createLibrary } from "./library/library.ts";
import { createListing } from "./library/listing.ts";
import { existingPrompts, findPrompt } from "./library/prompt-store.ts";
import { createPrompts } from "./migrations/0001_prompts.ts";
import type { PromptParts } from "./parts.ts";
import { promptRoutes } from "./routes.ts";
import { type PromptRow, type PromptTables, resourceType } from "./tables.ts";

export default definePlugin({
  id: "prompts",
  title: "Prompts",
  summary: "Texts that people call by a command in the composer.",
  uses: { access, accounts, audit: optional(audit), events, grants },
  tables: tables<PromptTables>("prompt", "prompt_history"),
  migrations: { "0001_prompts": createPrompts },
  resources: [resourceType],
  pages: [
    {
      id: "prompts.list",
      path: "/workspace/prompts",
      title: "Prompts",
      icon: "slash",
      place: "workspace",
      order: 16,
      access: "user",
    },
    {
      id: "prompts.new",
      path: "/workspace/new-prompt",
      title: "New prompt",
      place: "hidden",
      access: "user",
    },
    { id: "prompts.edit", path: "/workspace/prompt/:id", title: "Prompt", place: "hidden", access: "user" },
  ],

  setup({ db, transaction, use }) {
    const parts: PromptParts = {
      ...use,
      db,
      transaction,
      prompts: use.access.loader<PromptRow>({
        type: resourceType,
        find: (id) => findPrompt(db, id),
        ownerOf: (row) => row.user_id,
      }),
      record: async (entry, tx) => await use.audit?.record(entry, tx),
    };
    const logic = {
      library: createLibrary(parts),
      listing: createListing(parts),
      history: createHistory(parts),
    };
    return {
      routes: { api: promptRoutes(logic) },
      fills: [fill(explainedResources, explainPrompts(parts))],
      resources: { [resourceType]: (ids: readonly string[]) => existingPrompts(db, ids) },
    };
  },
});
