import type { Api } from "#plugins/catalogue.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { remembered } from "#plugins/web/kit/stores/remembered.svelte.ts";
import { addDays, daysOfMonth, daysOfWeek, toMs } from "./dates.ts";

export type CalendarEvent = Api["GET /api/v1/calendars/events"]["answer"][number];
export type Calendar = Api["GET /api/v1/calendars/"]["answer"][number];

/** The name of a calendar on the page: the server makes the default one of each account as "Personal". */
export const nameOf = ({ name, is_default: isDefault }: Pick<Calendar, "name" | "is_default">): string =>
  isDefault && name === "Personal" ? t("Personal") : name;

/** One occurrence with its times on the clock of this browser. */
export interface Occurrence {
  readonly event: CalendarEvent;
  readonly key: string;
  readonly start: Date;
  readonly end: Date | undefined;
  readonly color: string;
}

/** `days` are three, which a phone shows in place of a week. */
export type View = "month" | "week" | "days" | "day" | "agenda";

const plain = "#64748b";
const own = "#0e7490";
/** The colour of a calendar; one that nobody has coloured differs from what runs by itself. */
export const colorOf = ({ color, is_system: isSystem }: Calendar): string =>
  color ?? (isSystem ? plain : own);

const agendaDays = 60;
const lengths: Partial<Record<View, number>> = { day: 1, days: 3 };

/** The first and the last day of a view. */
function edgesOf(date: Date, view: View): [Date, Date] {
  const days = { month: daysOfMonth, week: daysOfWeek }[view as "month" | "week"]?.(date);
  return days
    ? [days[0] as Date, days.at(-1) as Date]
    : [date, addDays(date, (lengths[view] ?? agendaDays) - 1)];
}

/** The events of the shown weeks, and the calendars they are from. */
export class EventList {
  calendars = $state.raw<readonly Calendar[]>([]);
  occurrences = $state.raw<readonly Occurrence[]>();
  failure = $state<string>();
  /** Calendars that this browser does not show. */
  readonly #hidden = remembered<readonly string[]>("calendars-hidden", []);
  #asked = 0;

  readonly hidden = $derived<ReadonlySet<string>>(new Set(this.#hidden.value));

  readonly shown = $derived(
    (this.occurrences ?? []).filter(({ event }) => !this.hidden.has(event.calendar_id)),
  );

  async load(date: Date, view: View): Promise<void> {
    const asked = ++this.#asked;
    const [first, last] = edgesOf(date, view);
    const query = { start: first.toISOString(), end: addDays(last, 1).toISOString() };
    try {
      const [calendars, events] = await Promise.all([
        server.call("GET /api/v1/calendars/"),
        server.call("GET /api/v1/calendars/events", { query }),
      ]);
      // Whoever turns pages quickly gets the last one.
      if (asked === this.#asked) {
        this.calendars = calendars;
        const colors = new Map(calendars.map((each) => [each.id, colorOf(each)]));
        this.occurrences = events.map((event) => ({
          event,
          key: `${event.id}_${event.start_at}`,
          start: new Date(toMs(event.start_at)),
          end: event.end_at === null ? undefined : new Date(toMs(event.end_at)),
          color: event.color ?? colors.get(event.calendar_id) ?? plain,
        }));
        this.failure = undefined;
      }
    } catch (error) {
      if (asked === this.#asked) {
        this.failure = (error as Error).message;
      }
    }
  }

  /** Shows a move before the server has it: the next one begins where it ended. */
  place(key: string, start: Date, end: Date | undefined): void {
    this.occurrences = this.occurrences?.map((one) => (one.key === key ? { ...one, start, end } : one));
  }

  /** Occurrences that touch a day. */
  on(day: Date): Occurrence[] {
    const [from, to] = [day.getTime(), addDays(day, 1).getTime()];
    return this.shown.filter(({ start, end }) => {
      const until = Math.max(end?.getTime() ?? 0, start.getTime() + 1);
      return start.getTime() < to && until > from;
    });
  }

  toggle(id: string): void {
    const { hidden } = this;
    this.#hidden.value = hidden.has(id) ? [...hidden].filter((each) => each !== id) : [...hidden, id];
  }
}
