import type { Answer, App, TestUser } from "#test/support/app.ts";

/** A client of one account's calendars over HTTP. */
export interface CalendarClient {
  readonly user: TestUser;
  /** `METHOD /rest` below `/api/v1/calendars`. */
  call(route: string, body?: unknown): Promise<Answer>;
  /** Makes an event and answers its record; fails when that fails. */
  add(title: string, start: string, more?: Record<string, unknown>): Promise<Answer["body"]>;
  /** `title start` of what happens in a window, starts in ISO 8601. */
  happens(start: string, end: string): Promise<string[]>;
  zone(name: string): Promise<void>;
}

/** Epoch nanoseconds as they go over the wire. */
export const ns = (iso: string): number => Date.parse(iso) * 1e6;
export const iso = (nanoseconds: number): string =>
  new Date(Math.round(nanoseconds / 1e6)).toISOString().replace(".000Z", "Z");

export function calendarClient(app: App, user: TestUser): CalendarClient {
  const call: CalendarClient["call"] = (route, body) => {
    const [method, path] = route.split(" ", 2) as [string, string];
    return user.call(`${method} /api/v1/calendars${path}`, body);
  };
  return {
    user,
    call,
    async add(title, start, more = {}) {
      const { status, body, text } = await call("POST /events/create", {
        title,
        start_at: ns(start),
        ...more,
      });
      if (status !== 200) {
        throw new Error(`${status}: ${text}`);
      }
      return body;
    },
    async happens(start, end) {
      const { body, status, text } = await call(`GET /events?start=${start}&end=${end}`);
      if (status !== 200) {
        throw new Error(`${status}: ${text}`);
      }
      return body.map(
        ({ title, start_at }: { title: string; start_at: number }) => `${title} ${iso(start_at)}`,
      );
    },
    async zone(name) {
      await user.call("POST /api/v1/auths/update/timezone", { timezone: name });
    },
  };
}
