import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { GrantInput } from "#storage/grants.ts";
import type { Linking } from "../files/linking.ts";
import { announce, type KnowledgeParts } from "../parts.ts";
import type { CollectionChange, CollectionForm } from "../schema.ts";
import { type CollectionRow, resourceType } from "../tables.ts";
import { insertCollection, lockCollection, updateCollection } from "./collection-store.ts";
import { createEnding } from "./ending.ts";
import { type CollectionRecord, showCollection, toEntry } from "./record.ts";

export type Collections = ReturnType<typeof createCollections>;

/** Collections as a whole (contract 6.2). */
export function createCollections(parts: KnowledgeParts, linking: Linking) {
  const { transaction, collections, grants } = parts;
  return {
    ...createEnding(parts, linking),

    async create(caller: Principal, form: CollectionForm): Promise<CollectionRecord> {
      if (!hasPermission(caller, "workspace.knowledge")) {
        throw new AppError("forbidden", "You may not create collections.");
      }
      const given = await parts.accounts.givenGrants(caller, {
        wanted: form.access_grants ?? [],
        held: [],
        everybody: "sharing.public_knowledge",
      });
      const row = await transaction(async (tx) => {
        const { name, description, meta = {} } = form;
        const after = await insertCollection(tx, { userId: caller.userId, name, description, meta });
        await grants.replace(tx, resourceType, after.id, given);
        await parts.record(toEntry("created", { after, grants: given }), tx);
        return after;
      });
      announce(parts, "knowledge.created", { by: caller, id: row.id, data: { name: row.name } });
      return await showCollection(parts, caller, row);
    },

    async update(caller: Principal, id: string, change: CollectionChange): Promise<CollectionRecord> {
      const row = await collections.load(caller, id, "write");
      const { name, description, meta, access_grants: wanted } = change;
      const after = await transaction(async (tx) => {
        const before = await lockCollection(tx, id);
        const stored = await updateCollection(tx, id, {
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          ...(meta !== undefined && { meta }),
        });
        await parts.record(toEntry("updated", { before, after: stored }), tx);
        return stored;
      });
      announce(parts, "knowledge.updated", { by: caller, id, data: { name: after.name } });
      if (wanted) {
        await share(parts, caller, { row, wanted });
      }
      return await showCollection(parts, caller, after);
    },

    async share(caller: Principal, id: string, wanted: readonly GrantInput[]): Promise<CollectionRecord> {
      const row = await collections.load(caller, id, "write");
      await share(parts, caller, { row, wanted });
      return await showCollection(parts, caller, row);
    },
  };
}

async function share(
  parts: KnowledgeParts,
  caller: Principal,
  { row, wanted }: { row: CollectionRow; wanted: readonly GrantInput[] },
): Promise<void> {
  const { grants, accounts, transaction } = parts;
  const held = await grants.list(resourceType, [row.id]);
  const given = await accounts.givenGrants(caller, { wanted, held, everybody: "sharing.public_knowledge" });
  await transaction(async (tx) => {
    const before = await lockCollection(tx, row.id);
    await grants.replace(tx, resourceType, row.id, given);
    await parts.record(toEntry("access_updated", { before, after: before, grants: given }), tx);
  });
  announce(parts, "knowledge.access_updated", { by: caller, id: row.id, data: { access_grants: given } });
}
