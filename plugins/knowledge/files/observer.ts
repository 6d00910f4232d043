import { toRoom } from "#kernel/sockets/rooms.ts";
import type { FileObserver, FileRecord } from "#plugins/files/service.ts";
import { requireDirectory } from "../directories/directory-store.ts";
import type { KnowledgeParts } from "../parts.ts";
import { emptyContent, type Linking, noText } from "./linking.ts";
import {
  deleteLinks,
  findPlaces,
  type LinkRow,
  listStale,
  renameLinks,
  setStatus,
  touchLinks,
} from "./link-store.ts";

/** Where an upload is to go, as its form field `metadata` says (contract 6.1). */
function toPlace(metadata: unknown): { knowledgeId: string; directoryId: string | null } | undefined {
  const { knowledge_id: knowledgeId, directory_id: directoryId } = (metadata ?? {}) as Record<
    string,
    unknown
  >;
  return typeof knowledgeId === "string" && knowledgeId !== ""
    ? { knowledgeId, directoryId: typeof directoryId === "string" && directoryId !== "" ? directoryId : null }
    : undefined;
}

/** Follows files into the collections that they were uploaded for. */
export function createFileObserver(parts: KnowledgeParts, linking: Linking): FileObserver {
  const { db, collections, log } = parts;

  return {
    id: "knowledge",
    async admit(principal, metadata) {
      const place = toPlace(metadata);
      if (place !== undefined) {
        await collections.load(principal, place.knowledgeId, "write");
        await requireDirectory(db, place.knowledgeId, place.directoryId);
      }
    },
    async stored(principal, file) {
      const place = toPlace(file.meta["data"]);
      if (place !== undefined && file.data["status"] === "pending") {
        await linking.expect(principal.userId, place, file);
      }
    },
    async processed(file) {
      for (const row of await findPlaces(db, file.id)) {
        await settle(parts, linking, { row, hasText: hasText(file) });
      }
    },
    async failed(fileId, reason) {
      const rows = await findPlaces(db, fileId);
      for (const id of await setStatus(db, { fileIds: [fileId] }, { status: "error", error: reason })) {
        parts.progress.announce(id);
      }
      rows.forEach((row) => tellPeople(parts, { ...row, status: "error", error: reason }));
      log.debug({ file: fileId }, "a file of a collection could not be read");
    },
    async renamed(file) {
      (await renameLinks(db, file.id, file.filename)).forEach((id) => parts.progress.announce(id));
    },
  };
}

function hasText({ data }: FileRecord): boolean {
  return data["has_text"] === true || (typeof data["content"] === "string" && data["content"] !== "");
}

interface Settling {
  readonly row: LinkRow;
  readonly hasText: boolean;
}

/** Ends the wait of a file that has been read. Access is asked anew: it may have been taken away meanwhile. */
async function settle(
  parts: KnowledgeParts,
  linking: Linking,
  { row, hasText: found }: Settling,
): Promise<void> {
  const { db, accounts, collections } = parts;
  const { knowledge_id: knowledgeId, file_id: fileId } = row;
  if (row.status !== "processed") {
    const adder = await accounts.principalOf(row.user_id);
    if (adder === undefined || (await collections.find(adder, knowledgeId, "write")) === undefined) {
      await deleteLinks(db, knowledgeId, [fileId]);
      parts.progress.announce(knowledgeId);
      return;
    }
  }
  if (!found) {
    await parts.index?.unlink(knowledgeId, [fileId]);
    await setStatus(db, { knowledgeId, fileIds: [fileId] }, { status: "error", error: noText });
    parts.progress.announce(knowledgeId);
    tellPeople(parts, { ...row, status: "error", error: noText });
    return;
  }
  await linking.addToIndex(knowledgeId, [fileId]);
  tellPeople(parts, { ...row, status: "processed", error: null });
}

/** Tells the clients of whoever added a file what became of it (socket event `events:knowledge`). */
function tellPeople({ hub, log }: KnowledgeParts, row: LinkRow): void {
  try {
    hub.emit(toRoom("user", row.user_id), "events:knowledge", {
      knowledge_id: row.knowledge_id,
      data: {
        type: "knowledge:file",
        data: { file_id: row.file_id, filename: row.name, status: row.status, error: row.error },
      },
    });
  } catch (error) {
    log.warn({ err: error }, "clients could not be told of a file of a collection");
  }
}

const atOnce = 500;
const idleSeconds = 30;

/** Ends the wait of files whose end nobody told, as when the process died between two steps (promise R9). */
export async function mendLinks(parts: KnowledgeParts, linking: Linking, signal: AbortSignal): Promise<void> {
  const rows = await listStale(parts.db, idleSeconds, atOnce);
  const known = new Map(
    (await parts.files.list(rows.map(({ file_id }) => file_id))).map((file) => [file.id, file]),
  );
  await touchLinks(
    parts.db,
    rows.map(({ id }) => id),
  );
  for (const row of rows) {
    signal.throwIfAborted();
    const file = known.get(row.file_id);
    const status = file?.data["status"];
    if (file !== undefined && status === "completed") {
      await settle(parts, linking, { row, hasText: hasText(file) });
    } else if (status === "failed") {
      const error = String(file?.data["error"] ?? emptyContent);
      await setStatus(
        parts.db,
        { knowledgeId: row.knowledge_id, fileIds: [row.file_id] },
        { status: "error", error },
      );
      parts.progress.announce(row.knowledge_id);
    }
  }
}
