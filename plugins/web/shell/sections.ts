import type { PageEntry } from "../kit/stores/session.svelte.ts";

/** Places whose pages stand beside each other in one frame. */
export type Section = Exclude<PageEntry["place"], "main" | "hidden">;

export const sectionTitles: Readonly<Record<Section, string>> = {
  settings: "Settings",
  workspace: "Workspace",
  admin: "Administration",
};

/** Headings of the lists in frames. */
export const groupTitles: Readonly<Record<NonNullable<PageEntry["group"]>, string>> = {
  people: "People",
  models: "Models and tools",
  reports: "Reports",
  server: "This server",
};

/**
 * The section that a page is shown in; undefined for pages that stand alone. What nothing links stands with the page
 * above it, such as the editor of one model with the list of models.
 */
export function sectionOf({ place, path }: PageEntry, pages: readonly PageEntry[] = []): Section | undefined {
  if (place === "hidden") {
    const above = pages.find((page) => page.place !== "hidden" && path.startsWith(`${page.path}/`));
    return above && above.place !== "main" ? sectionOf(above) : undefined;
  }
  return place === "main" ? undefined : place;
}
