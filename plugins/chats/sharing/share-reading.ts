import { isMember, type Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toJsonReply } from "../reading/answers.ts";
import { opened } from "../reading/compose.ts";
import { requireRow } from "../require-row.ts";
import { type ChatParts, sharedType } from "../parts.ts";
import { findShare, readShownMessage, readSnapshot, type ShareRow } from "./share-store.ts";

export type ShareReading = ReturnType<typeof createShareReading>;

/** What others see of shared chats: the snapshot, never the chat. */
export function createShareReading({ db, shares, grants }: Pick<ChatParts, "db" | "shares" | "grants">) {
  return {
    /** Answers what is behind a link. Visitors need the grant for anyone, and are told the same whether it exists or not. */
    async open(caller: Principal | undefined, shareId: string) {
      const share = await findShare(db, shareId);
      if (caller === undefined || !isMember(caller)) {
        const visitor = { userId: null, groupIds: [] };
        const open = await grants.allowed(visitor, "read", sharedType, [share?.chat_id ?? shareId]);
        if (share === undefined || !open.has(share.chat_id)) {
          throw new AppError("not_found", "Not found");
        }
        return await answerShare(share, "open_chat");
      }
      const row = await shares.load(caller, share?.chat_id ?? shareId, "read");
      return await answerShare(row, "chat");
    },

    /** The snapshot in the place of the chat, for those who were given the chat to read. */
    async openAsChat(caller: Principal, chatId: string) {
      const row = await shares.load(caller, chatId, "read");
      const head = {
        id: row.chat_id,
        user_id: row.user_id,
        title: row.title,
        updated_at: row.updated_at,
        created_at: row.created_at,
        share_id: row.id,
        archived: false,
        pinned: false,
        meta: {},
        variables: {},
        folder_id: null,
        tasks: null,
        summary: null,
        last_read_at: null,
        current_message_id: await readShownMessage(db, row.id),
      };
      return toJsonReply(pieces(head, requireRow(await readSnapshot(db, row.id, "chat"))));
    },
  };

  async function answerShare(share: ShareRow, which: "chat" | "open_chat") {
    const { id, title, created_at, updated_at, chat_id, user_id } = share;
    const ids = which === "chat" ? { chat_id, user_id } : {};
    const head = { id, ...ids, title, share_id: id, created_at, updated_at };
    return toJsonReply(pieces(head, requireRow(await readSnapshot(db, id, which))));
  }
}

async function* pieces(head: Record<string, unknown>, chat: string): AsyncGenerator<string> {
  yield `${opened(head)}"chat":`;
  yield chat;
  yield "}";
}
