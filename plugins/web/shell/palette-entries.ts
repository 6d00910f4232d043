import { contributed } from "../kit/contributions.ts";
import { t } from "../kit/i18n/index.svelte.ts";
import { router } from "../kit/stores/router.svelte.ts";
import { type PageEntry, session } from "../kit/stores/session.svelte.ts";
import type { Command } from "../kit/web.ts";
import { sectionOf, sectionTitles } from "./sections.ts";

/** The pages that have a place in the interface and need nothing to be opened. */
export function pageCommands(): Command[] {
  return session.pages
    .filter(({ place, path }) => place !== "hidden" && !path.includes(":"))
    .map((page) => ({
      id: `page:${page.id}`,
      title: t(page.title),
      group: groupOf(page),
      ...(page.icon === null ? {} : { icon: page.icon }),
      keywords: `${page.title} ${page.path}`,
      run: () => router.navigate(page.path),
    }));
}

function groupOf(page: PageEntry): string {
  const section = sectionOf(page);
  return section ? t(sectionTitles[section]) : t("Go to");
}

/** What the plugins answer, each as it comes: a slow or failing one holds up nobody. */
export function readCommands(
  query: string,
  signal: AbortSignal,
  show: (commands: readonly Command[]) => void,
) {
  return Promise.allSettled(
    contributed("commands").map(async (list) => {
      const commands = await list(query, signal);
      if (!signal.aborted) {
        show(commands);
      }
    }),
  );
}
