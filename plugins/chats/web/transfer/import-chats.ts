import { ApiError } from "#plugins/web/kit/client.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { ExportedChat } from "./exported.ts";
import { readImport, titleOf, toPieces, type UnreadEntry } from "./read-import.ts";

/** An entry of a file that became no chat, and why. */
export interface ImportProblem {
  readonly title: string;
  readonly reason: string;
}

/** How far an import is. */
export interface ImportProgress {
  /** Chats that were stored. */
  readonly done: number;
  readonly total: number;
  readonly problems: readonly ImportProblem[];
}

/**
 * Stores the chats of a file as new ones. A chat that the server refuses is reported and the others go on; what was
 * stored before the server could not be reached stays.
 */
export async function importChats(
  file: Blob,
  onprogress: (progress: ImportProgress) => void = () => undefined,
): Promise<ImportProgress> {
  const { chats, unread } = readFile(await file.text());
  let progress: ImportProgress = {
    done: 0,
    total: chats.length + unread.length,
    problems: unread.map(toProblem),
  };
  onprogress(progress);
  const advance = (sent: readonly ExportedChat[], problems: readonly ImportProblem[]) => {
    const done = progress.done + sent.length - problems.length;
    progress = { ...progress, done, problems: [...progress.problems, ...problems] };
    onprogress(progress);
  };
  for (const piece of toPieces(chats)) {
    if (await store(piece)) {
      // The server stores a part whole or not at all: one by one, the others of a refused part get in.
      for (const chat of piece) {
        const reason = await store([chat]);
        advance([chat], reason ? [{ title: titleOf(chat) || titleOf(chat.chat), reason }] : []);
      }
    } else {
      advance(piece, []);
    }
  }
  return progress;
}

/** Answers why the server refuses what is in these chats. Throws when the refusal has another ground. */
async function store(chats: readonly ExportedChat[]): Promise<string | undefined> {
  try {
    // The server checks every field; the type of its body is what comes out of that check.
    await server.call("POST /api/v1/chats/import", { body: { chats } as never });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && [400, 404, 409, 413, 422].includes(error.status)) {
      return refusalOf(error);
    }
    throw error;
  }
}

/** The server's words; of a field that is wrong its name below the chat, and what is wrong with it. */
function refusalOf({ body, message }: ApiError): string {
  const { detail } = (body ?? {}) as { detail?: unknown };
  const [first] = Array.isArray(detail) ? (detail as { loc?: unknown[]; msg?: string }[]) : [];
  const place = first?.loc?.filter((part) => typeof part === "string" && !["body", "chats"].includes(part));
  return first ? `${place?.join(".")}: ${first.msg}` : message;
}

function toProblem({ position, title, reason }: UnreadEntry): ImportProblem {
  return {
    title: title || t("Entry {position} of the file", { position }),
    reason: reason === "no chat" ? t("Not a chat.") : t("This chat is empty."),
  };
}

function readFile(text: string): ReturnType<typeof readImport> {
  try {
    const plan = readImport(text);
    if (plan.chats.length > 0) {
      return plan;
    }
  } catch {
    // The message below says what is wanted, which the parser's does not.
  }
  throw new Error(
    t(
      "There are no chats in this file. Choose the JSON of an export, or the conversations.json of ChatGPT or Claude.",
    ),
  );
}
