import type { Principal } from "#kernel/access/principal.ts";
import { toShown } from "../reading/answers.ts";
import { lockChat } from "../chat-store.ts";
import { requireRow } from "../require-row.ts";
import { announce, type ChatParts } from "../parts.ts";
import { toTagId } from "./tag-names.ts";
import { addTags, listTags, setTags, type TagRecord, tagsOf } from "./tag-store.ts";

export type Tags = ReturnType<typeof createTags>;

/** Tags of chats; they belong to the account. */
export function createTags({ db, transaction, chats, events }: ChatParts) {
  const change = async (caller: Principal, id: string, next: (tags: string[]) => string[]) => {
    await chats.load(caller, id, "write");
    return await transaction(async (tx) => {
      const chat = requireRow(await lockChat(tx, id));
      const tags = next(tagsOf(chat));
      await setTags(tx, chat, tags);
      return await listTags(tx, chat.user_id, tags);
    });
  };
  return {
    all: (caller: Principal): Promise<TagRecord[]> => listTags(db, caller.userId),

    async of(caller: Principal, id: string): Promise<TagRecord[]> {
      const chat = await chats.load(caller, id, "read");
      return await listTags(db, chat.user_id, tagsOf(toShown(caller, chat)));
    },

    /** Throws `invalid` for a name that no tag can have. */
    async add(caller: Principal, id: string, name: string): Promise<TagRecord[]> {
      await chats.load(caller, id, "write");
      const tags = await transaction(async (tx) => {
        const chat = requireRow(await lockChat(tx, id));
        const meta = await addTags(tx, chat, [name]);
        return await listTags(tx, chat.user_id, tagsOf({ meta }));
      });
      announce(events, "chat.tag_added", { by: caller, id, data: { tag: toTagId(name) } });
      return tags;
    },

    async remove(caller: Principal, id: string, name: string): Promise<TagRecord[]> {
      const left = await change(caller, id, (tags) => tags.filter((tag) => tag !== toTagId(name)));
      announce(events, "chat.tag_removed", { by: caller, id, data: { tag: toTagId(name) } });
      return left;
    },

    async clear(caller: Principal, id: string): Promise<void> {
      await change(caller, id, () => []);
      announce(events, "chat.tag_removed", { by: caller, id });
    },
  };
}
