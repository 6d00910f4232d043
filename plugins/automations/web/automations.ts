import type { Api } from "#plugins/catalogue.ts";
import { language, plural, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { toWords } from "#plugins/web/kit/recurrence/to-words.ts";
import { server } from "#plugins/web/kit/server.ts";

export type Automation = Api["GET /api/v1/automations/:id"]["answer"];
export type Run = Api["GET /api/v1/automations/:id/runs"]["answer"][number];

export const listPath = "/automations";
export const newPath = "/automations/new";
export const toPath = (id: string): string => `/automations/edit/${id}`;

/** A rule in words, or as it is written. */
export const ruleWords = (rule: string): string =>
  toWords(rule, { locale: language.locale, t, plural }) ?? rule.replace(/^RRULE:/i, "");

/** True from the start of a run until its row is there. */
export const isRunning = ({ last_run_at: begun, last_run: ended }: Automation): boolean =>
  begun !== null && (ended === null || ended.created_at < begun);

export const runNow = (id: string) => server.call("POST /api/v1/automations/:id/run", { params: { id } });
export const toggle = (id: string) => server.call("POST /api/v1/automations/:id/toggle", { params: { id } });
export const remove = (id: string) =>
  server.call("DELETE /api/v1/automations/:id/delete", { params: { id } });

/** A time of epoch seconds with its weekday, in a zone or on the clock of this browser. */
export const formatRun = (seconds: number, timeZone?: string): string =>
  new Intl.DateTimeFormat(language.locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "numeric",
    minute: "2-digit",
    ...(timeZone !== undefined && { timeZone }),
  }).format(seconds * 1_000);

/** Words to begin with. */
export const examples = (): string[] => [
  t("every weekday at 9"),
  t("every Monday at 8:30"),
  t("every month on the 1st at 7"),
  t("every hour"),
];
