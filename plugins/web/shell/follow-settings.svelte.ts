import { untrack } from "svelte";
import { language } from "../kit/i18n/index.svelte.ts";
import { session } from "../kit/stores/session.svelte.ts";
import { settings } from "../kit/stores/settings.svelte.ts";
import { theme } from "../kit/stores/theme.svelte.ts";
import { startLocale } from "./start-locale.ts";

/**
 * Keeps look and language as the settings of the account have them; called while the frame is set up. What nobody chose
 * stays as this browser has it, so that a theme that was picked before signing in outlives it.
 */
export function followSettings(): void {
  $effect(() => {
    if (session.current) {
      // Nothing is lost without them: what this browser remembers, or the instance's, counts on.
      // Reading changes what is remembered, which must not lead to reading again.
      untrack(() => settings.load()).catch(() => undefined);
    }
  });

  let hadTheme = false;
  $effect(() => {
    const has = settings.sourceOf("theme") !== "built-in";
    if (has || hadTheme) {
      theme.choice = settings.get("theme");
    }
    hadTheme = has;
  });

  let hadLanguage = false;
  $effect(() => {
    const chosen = settings.get("language");
    if (chosen !== "" || hadLanguage) {
      useLanguage(chosen);
    }
    hadLanguage = chosen !== "";
  });

  $effect(() => {
    document.documentElement.style.fontSize = `${settings.get("textScale") * 100}%`;
  });
}

function useLanguage(chosen: string): void {
  if (chosen === "") {
    localStorage.removeItem("locale");
  } else {
    localStorage.setItem("locale", chosen);
  }
  const locale = startLocale(session.config?.default_locale ?? "");
  if (locale !== language.locale) {
    void language.use(locale);
  }
}
