import type { WebPlugin } from "./web.ts";

let gathered: readonly WebPlugin[] = [];

/** Called once by the shell, before anything is shown. */
export function gather(plugins: readonly WebPlugin[]): void {
  gathered = plugins;
}

/** All that the plugins add under one name, in their order. */
export function contributed<
  K extends
    | "sidebar"
    | "pageMarks"
    | "commands"
    | "triggers"
    | "composer"
    | "composerParts"
    | "replyButtons"
    | "panels"
    | "renderers"
    | "callCards"
    | "runners"
    | "calls"
    | "settings"
    | "modelSections"
    | "fileViews"
    | "requestParts",
>(kind: K): NonNullable<WebPlugin[K]>[number][] {
  const all = gathered.flatMap((plugin) => (plugin[kind] ?? []) as NonNullable<WebPlugin[K]>[number][]);
  return all.toSorted((a, b) => orderOf(a) - orderOf(b));
}

/** The component of a page of the project; undefined for pages of foreign plugins. */
export function findPage(id: string): NonNullable<WebPlugin["pages"]>[string] | undefined {
  return gathered.find((plugin) => plugin.pages?.[id])?.pages?.[id];
}

/** False while the sidebar leaves a page out. */
export const isPageListed = (id: string): boolean =>
  gathered.every(({ listed }) => listed?.[id]?.() !== false);

const orderOf = (one: object): number => (one as { order?: number }).order ?? 1000;
