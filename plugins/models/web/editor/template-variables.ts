import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

/** What a system prompt can name; the server fills it in for every request (contract 3.7). */
export const templateVariables = (): readonly { name: string; text: string }[] => [
  { name: "USER_NAME", text: t("Name of the person") },
  { name: "USER_LOCATION", text: t("Place of the person, where they said so") },
  { name: "CURRENT_DATE", text: t("Date, in the person's time zone") },
  { name: "CURRENT_TIME", text: t("Time, in the person's time zone") },
  { name: "CURRENT_WEEKDAY", text: t("Day of the week") },
  { name: "CURRENT_TIMEZONE", text: t("Time zone of the person") },
  { name: "chat.variables.topic", text: t("An input that every chat is asked for; rename it") },
];
