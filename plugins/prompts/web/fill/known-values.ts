import { language } from "#plugins/web/kit/i18n/index.svelte.ts";
import { toLocalDay } from "#plugins/web/kit/local-day.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { knownIn } from "./variables.ts";

/** Values of the names that a text asks for and the browser knows; a clipboard that is refused is empty. */
export async function knownValues(text: string): Promise<Record<string, string>> {
  const now = new Date();
  const pad = (value: number) => String(value).padStart(2, "0");
  const date = toLocalDay(now);
  const time = `${pad(now.getHours())}:${pad(now.getMinutes())}:${pad(now.getSeconds())}`;
  const values: Readonly<Record<string, () => string | Promise<string>>> = {
    CURRENT_DATE: () => date,
    CURRENT_TIME: () => time,
    CURRENT_DATETIME: () => `${date} ${time}`,
    CURRENT_WEEKDAY: () => now.toLocaleDateString("en-US", { weekday: "long" }),
    CURRENT_TIMEZONE: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
    USER_NAME: () => session.current?.name ?? "",
    USER_LANGUAGE: () => language.locale,
    CLIPBOARD: () => navigator.clipboard.readText().catch(() => ""),
  };
  const entries = knownIn(text).map(async (name) => [name, (await values[name]?.()) ?? ""] as const);
  return Object.fromEntries(await Promise.all(entries));
}
