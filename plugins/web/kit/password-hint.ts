import { t } from "./i18n/index.svelte.ts";

/** The shortest password that the server takes. */
export const shortestPassword = 8;

/** What a new password has to look like, with the rule that the administrators wrote. */
export const passwordHint = (rule: string | undefined): string =>
  [t("At least {count} characters.", { count: shortestPassword }), rule ?? ""].filter(Boolean).join(" ");
