import { bool, int } from "#config/variable.ts";

export const calendarVariables = {
  enabled: bool("ENABLE_CALENDAR", true, {
    key: "calendar.enable",
    persisted: true,
    text: "Lets people with the permission features.calendar keep calendars",
  }),
  lookahead: int("CALENDAR_ALERT_LOOKAHEAD_MINUTES", 10, {
    min: 0,
    max: 40_320,
    text: "Minutes before the start of an event at which people are reminded, where the event says nothing else",
  }),
};
