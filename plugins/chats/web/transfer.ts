import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { toLocalDay } from "#plugins/web/kit/local-day.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { ExportedChat } from "./transfer/exported.ts";
import { toFileName, toMarkdown, toPlainText } from "./transfer/write-text.ts";

export type ExportFormat = "json" | "markdown" | "text";

const endings = { json: "json", markdown: "md", text: "txt" } as const;
const types = { json: "application/json", markdown: "text/markdown", text: "text/plain" } as const;

/** Saves chats as one file. JSON can be imported again; the others hold the shown branch. */
export async function exportChats(ids: readonly string[], format: ExportFormat): Promise<void> {
  const chats: ExportedChat[] = [];
  for (const id of ids) {
    chats.push((await server.call("GET /api/v1/chats/:id", { params: { id } })) as ExportedChat);
  }
  const title = chats.length === 1 ? (chats[0]?.title ?? "") : t("Chats");
  save(toText(chats, format), { name: toFileName(title, endings[format]), type: types[format] });
}

function toText(chats: readonly ExportedChat[], format: ExportFormat): string {
  if (format === "json") {
    return JSON.stringify(chats, null, 2);
  }
  const words = { you: t("You"), assistant: t("Assistant"), system: t("System prompt") };
  const write = format === "markdown" ? toMarkdown : toPlainText;
  return chats.map((chat) => write(chat, words)).join(format === "markdown" ? "\n---\n\n" : "\n\n");
}

/** Saves every chat, or every archived one, as JSON that can be imported again. */
export async function exportAllChats(which: "open" | "archived"): Promise<void> {
  const response = await (which === "open"
    ? server.open("GET /api/v1/chats/all")
    : server.open("GET /api/v1/chats/all/archived"));
  if (!response.ok) {
    throw new Error(t("The server answered {status}.", { status: response.status }));
  }
  const day = toLocalDay(new Date());
  saveBlob(await response.blob(), which === "open" ? `chats-${day}.json` : `chats-archived-${day}.json`);
}

function save(text: string, { name, type }: { name: string; type: string }): void {
  saveBlob(new Blob([text], { type }), name);
}

function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the address after the click was handled.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
