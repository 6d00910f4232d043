import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { configuration, events, grants } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { fill } from "#kernel/service.ts";
import { accounts, explainedResources } from "#plugins/accounts/service.ts";
import { createAlerts } from "./alerts.ts";
import { createCalendarActions } from "./calendars.ts";
import { calendarVariables } from "./config.ts";
import { createCalendarTables } from "./migrations/0001_calendar.ts";
import { explainCalendars } from "./explain.ts";
import { createExchange } from "./ical/exchange.ts";
import { createLinks } from "./ical/links.ts";
import { createCalendarLinks } from "./migrations/0002_links.ts";
import { createParts } from "./create-parts.ts";
import { createEventActions } from "./events/events.ts";
import { createEventListing } from "./events/listing.ts";
import { resourceType } from "./parts.ts";
import { calendarRoutes } from "./routes/calendars.ts";
import { exchangeRoutes } from "./routes/exchange.ts";
import { eventRoutes, listingRoutes } from "./routes/events.ts";
import { scheduledRuns } from "./service.ts";
import { existingCalendars } from "./store.ts";
import type { CalendarTables } from "./tables.ts";
import { createCalendarTools } from "./tools.ts";

export default definePlugin({
  id: "calendar",
  title: "Calendar",
  summary: "Calendars with events, invitations and reminders.",
  config: calendarVariables,
  uses: { access, accounts, configuration, events, grants, hub, scheduled: scheduledRuns },
  tables: tables<CalendarTables>("calendar", "calendar_event", "calendar_event_attendee", "calendar_link"),
  migrations: { "0001_calendar": createCalendarTables, "0002_links": createCalendarLinks },
  permissions: [
    { path: "features.calendar", default: true },
    { path: "sharing.public_calendars", default: false },
  ],
  resources: [resourceType],
  pages: [
    {
      id: "calendar",
      path: "/calendar",
      title: "Calendar",
      icon: "calendar",
      place: "main",
      order: 32,
      access: "permission:features.calendar",
    },
  ],
  enabled: (config) => config.enabled,

  setup({ config, use, db, transaction }) {
    const parts = createParts({ use, db, transaction });
    const alerts = createAlerts({ ...parts, lookahead: () => config.lookahead });
    const listing = createEventListing(parts);
    const actions = createEventActions(parts);
    return {
      routes: {
        api: [
          ...listingRoutes(listing),
          ...eventRoutes(actions),
          ...exchangeRoutes(
            createExchange(parts),
            createLinks(parts, () => config.enabled),
          ),
          ...calendarRoutes(createCalendarActions(parts)),
        ],
      },
      fills: [fill(explainedResources, explainCalendars(parts))],
      tools: createCalendarTools({ db, listing, events: actions }),
      jobs: [
        {
          id: "calendar.alerts",
          title: "Sends calendar reminders",
          every: () => Number(use.configuration.valueOf("SCHEDULER_POLL_INTERVAL")),
          run: async (_data, { signal }) => void (await alerts.sendDue(signal)),
        },
      ],
      resources: { [resourceType]: (ids: readonly string[]) => existingCalendars(db, ids) },
    };
  },
});
