import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { CalendarEvent } from "./events.svelte.ts";

export type Answer = CalendarEvent["attendees"][number]["status"];

/** A person who is asked to an event. */
export interface Asked {
  readonly id: string;
  readonly name: string;
  readonly status: Answer;
}

export const toAsked = ({ attendees }: CalendarEvent): Asked[] =>
  attendees.map(({ user_id: id, user, status }) => ({ id, name: user?.name ?? id, status }));

/** An answer, for people. */
export const answerWords = (answer: Answer): string =>
  ({
    accepted: t("comes"),
    tentative: t("perhaps"),
    declined: t("does not come"),
    pending: t("no answer yet"),
  })[answer];

export const storeAnswer = (id: string, status: Answer) =>
  server.call("POST /api/v1/calendars/events/:id/rsvp", { params: { id }, body: { status } });
