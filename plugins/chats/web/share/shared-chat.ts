import { ApiError } from "#plugins/web/kit/client.ts";
import { server } from "#plugins/web/kit/server.ts";
import { type ExportedMessage, type ExportedTree, shownBranch } from "../transfer/exported.ts";

/** What is behind a link, as its reader may see it. */
export interface SharedChat {
  readonly shareId: string;
  readonly title: string;
  /** When the snapshot was taken; epoch seconds. */
  readonly sharedAt: number;
  readonly branch: readonly ExportedMessage[];
  readonly tree: ExportedTree;
  /** For readers with an account. */
  readonly owner?: { readonly id: string; readonly name: string; readonly picture: string | null };
  readonly chatId?: string;
}

interface Answer {
  readonly id: string;
  readonly title: string;
  readonly chat_id?: string;
  readonly user_id?: string;
  readonly updated_at: number;
  readonly chat: ExportedTree;
}

/** Reads what is behind a link; undefined where it leads nowhere or is not open to the caller, which is told alike. */
export async function readShared(shareId: string): Promise<SharedChat | undefined> {
  try {
    const answer = (await server.call("GET /api/v1/chats/share/:id", { params: { id: shareId } })) as Answer;
    const owner = answer.user_id === undefined ? undefined : await readOwner(answer.user_id);
    return {
      shareId: answer.id,
      title: answer.title,
      sharedAt: answer.updated_at,
      branch: shownBranch(answer.chat),
      tree: answer.chat,
      ...(answer.chat_id === undefined ? {} : { chatId: answer.chat_id }),
      ...(owner ? { owner } : {}),
    };
  } catch (error) {
    if (error instanceof ApiError && [401, 403, 404].includes(error.status)) {
      return undefined;
    }
    throw error;
  }
}

/** A copy of the snapshot as a chat of the caller's own; resolves to its id. */
export async function continueShared(shareId: string): Promise<string> {
  const made = await server.call("POST /api/v1/chats/:id/clone/shared", { params: { id: shareId } });
  return (made as { id: string }).id;
}

async function readOwner(id: string): Promise<SharedChat["owner"]> {
  try {
    const info = await server.call("GET /api/v1/users/:id/info", { params: { id } });
    return { id, name: info.name, picture: info.profile_image_url };
  } catch {
    return undefined;
  }
}
