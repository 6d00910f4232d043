import { defineRoute } from "#kernel/http/route.ts";
import type { Audit, AuditEntry } from "#plugins/audit/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { RetrievalEvents } from "../announce.ts";
import { requireCollectionName } from "../access/names.ts";
import { DeleteForm, Done } from "../schema.ts";
import type { Retrieval } from "../service.ts";
import { below, type Prefix } from "./prefix.ts";

export interface RemovalRouteParts {
  readonly files: Pick<Files, "load" | "removeAll">;
  readonly service: Retrieval;
  readonly audit: Audit | undefined;
  readonly events: Pick<RetrievalEvents, "reset">;
  /** Removes all vectors, and orders every text to be cut and embedded anew. */
  resetIndex(): Promise<void>;
}

/** Taking things out of the index (contract §6.3). */
export function removalRoutes(
  prefix: Prefix,
  { files, service, audit, events, resetIndex }: RemovalRouteParts,
) {
  const record = async (action: AuditEntry["action"], id: string) =>
    await audit?.record({ action, object: { type: "retrieval", id } });
  return [
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/delete"),
        summary: "Take a file out of a collection",
        access: "admin",
        body: DeleteForm,
        returns: Done,
        fails: [400, 404],
      },
      async ({ body, caller }) => {
        const name = requireCollectionName(body.collection_name);
        const file = await files.load(caller, body.file_id, "write");
        await service.unlink(name, [file.id]);
        await record("retrieval.file_removed", name);
        return { status: true };
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/reset/db"),
        summary: "Build the index anew from the stored texts",
        access: "admin",
        returns: Done,
      },
      async ({ caller }) => {
        await resetIndex();
        await record("retrieval.index_reset", "index");
        events.reset("vector_db", caller);
        return { status: true };
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/reset/uploads"),
        summary: "Remove every file of the installation",
        access: "admin",
        returns: Done,
      },
      async ({ caller }) => {
        await files.removeAll(caller);
        await record("retrieval.uploads_removed", "files");
        events.reset("uploads", caller);
        return { status: true };
      },
    ),
  ] as const;
}
