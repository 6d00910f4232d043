import type { Page } from "playwright-core";
import { makeAutomations } from "./automation-states.ts";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const hour = 3_600_000;
const planned = [
  { title: "Council about the weir", days: 2, from: 15, location: "Town hall" },
  { title: "Dress the stones", days: 0, from: 9, rrule: "FREQ=WEEKLY;BYDAY=MO,TH" },
  { title: "Grease the main shaft", days: -3, from: 8, color: "#b45309" },
  { title: "Flour for the fair", days: 9, from: 6 },
] as const;

async function openCalendar(page: Page, world: World): Promise<void> {
  const { url, token } = world;
  await makeAutomations(world);
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const search = await fetch(`${url}/api/v1/calendars/events/search`, { headers });
  const known = (await search.json()) as unknown[];
  const today = new Date().setHours(0, 0, 0, 0);
  for (const { days, from, ...event } of known.length === 0 ? planned : []) {
    const start = today + (days * 24 + from) * hour;
    const body = JSON.stringify({ ...event, start_at: start * 1e6, end_at: (start + hour) * 1e6 });
    await fetch(`${url}/api/v1/calendars/events/create`, { method: "POST", headers, body });
  }
  await page.goto("/calendar");
  await page
    .getByRole("button", { name: /Council about the weir/ })
    .first()
    .waitFor();
}

/** Events of a month and what comes. */
export const calendarStates: readonly State[] = [
  { name: "calendar", looks: ["desk-light", "desk-dark", "phone-light"], show: openCalendar },
  {
    name: "calendar-week",
    looks: ["desk-light", "desk-dark", "phone-light"],
    show: async (page, world) => {
      await openCalendar(page, world);
      await page
        .getByText("Week", { exact: true })
        .or(page.getByText("3 days", { exact: true }))
        .click();
      await page.getByRole("region", { name: "Hours of the day" }).waitFor();
    },
  },
  {
    name: "calendar-month-phone",
    looks: ["phone-dark"],
    show: async (page, world) => {
      await openCalendar(page, world);
      await page.getByText("Month", { exact: true }).click();
      await page.getByRole("grid").waitFor();
    },
  },
  {
    name: "calendar-runs",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openCalendar(page, world);
      await page
        .getByRole("main")
        .getByRole("button", { name: /News about weirs/ })
        .first()
        .click();
      await page.getByRole("list", { name: "Runs" }).waitFor();
    },
  },
  {
    name: "calendar-settings",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openCalendar(page, world);
      await page.getByRole("button", { name: "Settings of Personal" }).click();
      await page.getByRole("tab", { name: "Files and link" }).click();
      await page.getByRole("button", { name: /^Make a( new)? link/ }).click();
    },
  },
  {
    name: "calendar-event",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openCalendar(page, world);
      await page.getByText("Council about the weir").first().click();
      await page.getByRole("textbox", { name: "Title" }).waitFor();
    },
  },
];
