import { languages } from "../kit/i18n/index.svelte.ts";

/** What the person chose here, else the instance's language, else the browser's, else English. */
export function startLocale(instanceLocale: string): string {
  const chosen = localStorage.getItem("locale");
  const wanted = [chosen, instanceLocale, ...(chosen || instanceLocale ? [] : navigator.languages), "en-US"];
  for (const one of wanted.filter((text) => text !== null && text !== "")) {
    const found = Object.keys(languages).find((known) => known.split("-")[0] === one?.split("-")[0]);
    if (found && isLocale(one as string)) {
      return one as string;
    }
  }
  return "en-US";
}

function isLocale(text: string): boolean {
  try {
    return Boolean(new Intl.Locale(text));
  } catch {
    return false;
  }
}
