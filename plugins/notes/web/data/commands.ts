import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { keepTypedAhead, takeTypedAhead } from "#plugins/web/kit/typed-ahead.ts";
import type { Command } from "#plugins/web/kit/web.ts";
import { findNotes, toPath } from "./notes.ts";

const most = 5;

/** Makes an empty note and opens it. */
export async function beginNote(): Promise<void> {
  keepTypedAhead();
  try {
    const { id } = await server.call("POST /api/v1/notes/create", { body: { title: "" } });
    router.navigate(toPath(id));
  } catch (error) {
    takeTypedAhead();
    throw error;
  }
}

/** Of the palette: a new note, and notes by their words. */
export async function noteCommands(query: string, signal: AbortSignal): Promise<Command[]> {
  const found = query.trim() === "" ? [] : await findNotes(query, most, signal);
  return [
    { id: "notes.new", title: t("New note"), group: t("Notes"), icon: "note", run: beginNote },
    ...found.map(({ id, title }) => ({
      id: `note:${id}`,
      title: title || t("Untitled"),
      group: t("Notes"),
      icon: "note",
      run: () => router.navigate(toPath(id)),
    })),
  ];
}
