import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ChannelParts } from "../parts.ts";
import {
  findMessage,
  foundPage,
  listMessages,
  listPinned,
  type MessageRow,
  searchMessages,
} from "../rows/messages.ts";
import { showMessage, showMessages } from "../view.ts";

interface ListQuery {
  readonly skip: number;
  readonly limit: number;
  /** Id of the message that the part goes on before, or after. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export type ReadingActions = ReturnType<typeof createReadingActions>;

/** Lists of messages (contract §8). A part beside `before` or `after` costs the same wherever it is. */
export function createReadingActions(parts: ChannelParts) {
  const { db, channels } = parts;

  const require = async (channelId: string, id: string): Promise<MessageRow> => {
    const row = await findMessage(db, channelId, id);
    if (row === undefined) {
      throw new AppError("not_found", "Message not found");
    }
    return row;
  };
  const list = async (channelId: string, parentId: string | null, query: ListQuery) => {
    const before = query.before === undefined ? undefined : await require(channelId, query.before);
    const after = query.after === undefined ? undefined : await require(channelId, query.after);
    const rows = await listMessages(db, { channelId, parentId }, { ...query, before, after });
    return await showMessages(parts, rows, { hidesData: true });
  };

  return {
    async messages(caller: Principal, id: string, query: ListQuery) {
      await channels.load(caller, id, "read");
      return await list(id, null, query);
    },
    async thread(caller: Principal, place: { id: string; message_id: string }, query: ListQuery) {
      await channels.load(caller, place.id, "read");
      const parent = await require(place.id, place.message_id);
      return await list(place.id, parent.id, query);
    },
    async pinned(caller: Principal, id: string, page: number) {
      await channels.load(caller, id, "read");
      return await showMessages(parts, await listPinned(db, id, page), { hidesData: true });
    },
    async message(caller: Principal, place: { id: string; message_id: string }) {
      await channels.load(caller, place.id, "read");
      return await showMessage(parts, await require(place.id, place.message_id));
    },
    async data(caller: Principal, place: { id: string; message_id: string }) {
      await channels.load(caller, place.id, "read");
      return (await require(place.id, place.message_id)).data;
    },
    /** Messages whose words begin with those of the query, newest first. */
    async search(
      caller: Principal,
      id: string,
      { query, before }: { query: string; before?: string | undefined },
    ) {
      await channels.load(caller, id, "read");
      const start = before === undefined ? undefined : (await require(id, before)).created_at;
      const rows = await searchMessages(db, [id], { query, limit: foundPage, before: start });
      return await showMessages(parts, rows, { hidesData: true });
    },
  };
}
