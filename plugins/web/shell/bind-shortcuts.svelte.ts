import { contributed } from "../kit/contributions.ts";
import { language, t } from "../kit/i18n/index.svelte.ts";
import { shortcuts } from "../kit/shortcuts.svelte.ts";
import { layout } from "../kit/stores/layout.svelte.ts";
import { router } from "../kit/stores/router.svelte.ts";
import { session } from "../kit/stores/session.svelte.ts";
import { viewport } from "../kit/stores/viewport.svelte.ts";
import { readCommands } from "./palette-entries.ts";

/** Registers the frame's keys and those of the plugins' commands; called while the frame is set up. */
export function bindShortcuts(): void {
  $effect(() => {
    const group = t("Everywhere");
    const goTo = { C: "main", S: "settings", W: "workspace", A: "admin" } as const;
    const titles = {
      C: t("Go to the chats"),
      S: t("Go to the settings"),
      W: t("Go to the workspace"),
      A: t("Go to the administration"),
    };
    const jumps = (["C", "S", "W", "A"] as const).flatMap((key) => {
      const page = session.pages.find(({ place, path }) => place === goTo[key] && !path.includes(":"));
      const path = key === "C" ? "/" : page?.path;
      return path === undefined
        ? []
        : [{ keys: `G ${key}`, title: titles[key], group, run: () => router.navigate(path) }];
    });
    return shortcuts.add(
      ...jumps.toReversed(),
      { keys: "?", title: t("Keyboard shortcuts"), group, run: () => (layout.isHelpOpen = true) },
      { keys: "Mod+B", title: t("Open or close the sidebar"), group, run: toggleSidebar },
      { keys: "Mod+Shift+O", title: t("New chat"), group, run: () => router.navigate("/") },
      {
        keys: "Mod+K",
        title: t("Search and commands"),
        group,
        run: () => (layout.isPaletteOpen = !layout.isPaletteOpen),
      },
    );
  });

  $effect(() => {
    void language.messages;
    const control = new AbortController();
    const removals: (() => void)[] = [];
    if (contributed("commands").length > 0) {
      void readCommands("", control.signal, (commands) => {
        const keyed = commands.flatMap(({ shortcut, title, group, run }) =>
          shortcut === undefined ? [] : [{ keys: shortcut, title, group, run }],
        );
        removals.push(shortcuts.add(...keyed));
      });
    }
    return () => {
      control.abort();
      removals.forEach((remove) => remove());
    };
  });
}

function toggleSidebar(): void {
  if (viewport.isPhone) {
    layout.isDrawerOpen = !layout.isDrawerOpen;
  } else {
    layout.isSidebarCollapsed = !layout.isSidebarCollapsed;
  }
}
