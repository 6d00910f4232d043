import type { Principal } from "#kernel/access/principal.ts";
import type { CollectionAccess } from "#plugins/retrieval/service.ts";
import type { AccessPreview } from "#plugins/accounts/service.ts";
import type { ContextItems } from "#plugins/completions/service.ts";
import type { FileReferences } from "#plugins/files/service.ts";
import type { ModelReferences } from "#plugins/models/service.ts";
import { AppError } from "#kernel/errors.ts";
import { anyOf } from "#storage/values.ts";
import { granted } from "#storage/grants.ts";
import { selectPermitted } from "./collections/collection-store.ts";
import type { Listing } from "./collections/listing.ts";
import type { Linking } from "./files/linking.ts";
import { listLinks } from "./files/link-store.ts";
import type { KnowledgeParts } from "./parts.ts";
import { resourceType } from "./tables.ts";
import type { KnowledgeBases } from "./service.ts";

/** The value of `type` that names collections in models, folders and requests. */
export const itemType = "collection";

/** Readers of a collection may read its files; they stay their owners' to change. */
export function toFileReference({ db, access }: KnowledgeParts): FileReferences {
  return {
    id: "knowledge",
    async isReachable(principal, fileId, action) {
      if (action !== "read") {
        return false;
      }
      const row = await db
        .selectFrom("knowledge_file")
        .innerJoin("knowledge", "knowledge.id", "knowledge_file.knowledge_id")
        .select("knowledge.id")
        .where("knowledge_file.file_id", "=", fileId)
        .$if(!access.passes(principal), (query) =>
          query.where((eb) =>
            eb.or([
              eb("knowledge.user_id", "=", principal.userId),
              granted(eb, resourceType, "knowledge.id", principal, "read"),
            ]),
          ),
        )
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

/** Which collections models and folders may lend. */
export function toModelReferences(listing: Listing): ModelReferences {
  return {
    id: "knowledge",
    types: [itemType],
    readable: async (principal, _type, ids) =>
      new Set((await listing.among(principal, ids)).map(({ id }) => id)),
  };
}

/** A collection of the index has the id of its collection here as its name (contract 6.2). */
export function toCollectionAccess({ db, access }: KnowledgeParts): CollectionAccess {
  return {
    id: "knowledge",
    async allowed(principal, names, action) {
      const rows = await selectPermitted(db, principal, { all: access.passes(principal), permission: action })
        .select("knowledge.id")
        .where("knowledge.id", "=", anyOf(names))
        .execute();
      return new Set(rows.map(({ id }) => id));
    },
  };
}

/** Collections among the `files` of a request (promise S19). */
export function toContextItems(listing: Listing): ContextItems {
  return {
    types: [itemType],
    async require(principal, items) {
      const ids = items.map(({ id }) => (typeof id === "string" ? id : ""));
      const readable = new Set((await listing.among(principal, ids)).map(({ id }) => id));
      if (ids.some((id) => !readable.has(id))) {
        throw new AppError("not_found", "Knowledge not found");
      }
    },
  };
}

export function toPreview(listing: Listing): AccessPreview {
  return {
    kind: "knowledge",
    list: async (principal) => (await listing.all(principal, 1_000)).map(({ id, name }) => ({ id, name })),
  };
}

/** What other plugins may do with collections. */
export function createService(parts: KnowledgeParts, listing: Listing, linking: Linking): KnowledgeBases {
  return {
    readable: async (principal: Principal, ids: readonly string[]) =>
      (await listing.among(principal, ids)).map(({ id, name, description }) => ({ id, name, description })),
    async files(principal, id) {
      await parts.collections.load(principal, id, "read");
      return (await listLinks(parts.db, id, "processed")).map(({ file_id }) => file_id);
    },
    async add(principal, id, fileId, directoryId) {
      await parts.collections.load(principal, id, "write");
      const place = { fileIds: [fileId], directoryId: directoryId ?? null };
      const { refused } = await linking.add(principal, id, place);
      if (refused[0] !== undefined) {
        throw new AppError("invalid", refused[0].reason);
      }
    },
  };
}
