import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { Retrieval } from "../service.ts";

/** The file that a step belongs to; `fileId` is null for texts that are no files. */
export interface SteppedSource {
  readonly fileId: string | null;
  readonly userId: string;
}

/** Tells the owner of a file how far search by meaning is, with the event `file:progress` (contract, ruling 46). */
export function createTeller(
  hub: Hub | undefined,
  progress: Retrieval["progress"],
): (source: SteppedSource) => Promise<void> {
  return async ({ fileId, userId }) => {
    const room = toRoom("user", userId);
    if (fileId === null || !hub?.isHeard(room)) {
      return;
    }
    const state = (await progress([fileId])).get(fileId);
    if (state !== undefined) {
      const { passages: total, embedded, status, error = null } = state;
      const data = { file_id: fileId, status, error, passages: { total, embedded } };
      hub.emit(room, "events", toEnvelope({ type: "file:progress", data }));
    }
  };
}
