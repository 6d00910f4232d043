import { t } from "../kit/i18n/index.svelte.ts";
import { layout } from "../kit/stores/layout.svelte.ts";
import { router } from "../kit/stores/router.svelte.ts";
import { session } from "../kit/stores/session.svelte.ts";
import { theme } from "../kit/stores/theme.svelte.ts";
import type { Command } from "../kit/web.ts";

/** What the frame itself can do. */
export function shellCommands(): Command[] {
  const group = t("Everywhere");
  return [
    {
      id: "shell:help",
      title: t("Keyboard shortcuts"),
      group,
      icon: "info",
      shortcut: "?",
      run: () => void (layout.isHelpOpen = true),
    },
    {
      id: "shell:theme",
      title: theme.shown === "dark" ? t("Switch to the light theme") : t("Switch to the dark theme"),
      group,
      icon: "palette",
      run: () => void (theme.choice = theme.shown === "dark" ? "light" : "dark"),
    },
    { id: "shell:sign-out", title: t("Sign out"), group, icon: "user", run: () => session.signOut() },
  ];
}

/** The first thing that most look for. */
export const newChatCommand = (): Command => ({
  id: "shell:new-chat",
  title: t("New chat"),
  group: t("Go to"),
  icon: "chat",
  shortcut: "Mod+Shift+O",
  run: () => router.navigate("/"),
});
