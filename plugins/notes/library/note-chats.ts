import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { nanoseconds } from "#storage/clock.ts";
import type { NoteParts } from "../parts.ts";

/** Chats that one list gives. */
const most = 100;

export type NoteChats = ReturnType<typeof createNoteChats>;

/** Chats that a person has about a note: the note is a file of theirs, so that each answer knows its text of then. */
export function createNoteChats({ db, chats, notes }: NoteParts) {
  async function list(caller: Principal, noteId: string) {
    const note = await notes.load(caller, noteId, "read");
    const rows = await db
      .selectFrom("note_chat")
      .selectAll()
      .where("note_id", "=", note.id)
      .where("user_id", "=", caller.userId)
      .orderBy("created_at", "desc")
      .limit(most)
      .execute();
    const found = await Promise.all(
      rows.map(async ({ chat_id: id, note_id: of, created_at: at }) => {
        const chat = await unlessGone(() => chats.require(caller, id));
        return chat && { id, title: chat.title, note_id: of, created_at: BigInt(at) };
      }),
    );
    return found.filter((chat) => chat !== undefined);
  }

  return {
    list,
    /** The newest; null where there is none yet. */
    latest: async (caller: Principal, noteId: string) => (await list(caller, noteId))[0] ?? null,

    async begin(caller: Principal, noteId: string) {
      const note = await notes.load(caller, noteId, "read");
      const title = note.title || "Note";
      const chat = await chats.create(caller, {
        title,
        models: [],
        messages: [],
        files: [{ type: "note", id: note.id, name: title, status: "uploaded" }],
        meta: { internal: true, note_id: note.id },
      });
      const at = nanoseconds();
      await db
        .insertInto("note_chat")
        .values({ note_id: note.id, chat_id: chat.id, user_id: caller.userId, created_at: at })
        .execute();
      return { id: chat.id, title: chat.title, note_id: note.id, created_at: at };
    },
  };
}

/** The note that a chat is about, if any. */
export async function noteOfChat(
  { chats }: Pick<NoteParts, "chats">,
  caller: Principal,
  chatId: string | undefined,
): Promise<string | undefined> {
  const chat = chatId === undefined ? undefined : await unlessGone(() => chats.require(caller, chatId));
  const id = chat?.meta["note_id"];
  return typeof id === "string" ? id : undefined;
}

async function unlessGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") {
      return undefined;
    }
    throw error;
  }
}
