import type { Page } from "playwright-core";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const planned = [
  { name: "Gauge of the morning", rrule: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0" },
  { name: "Flour that is left", rrule: "FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=7;BYMINUTE=0" },
  { name: "News about weirs and water rights in the whole of the valley", rrule: "FREQ=HOURLY;INTERVAL=6" },
] as const;

const prompt = "How high is the river at the weir, and does the sluice have to be opened today?";

/** Makes the automations once; answers the id of the first. */
export async function makeAutomations({ url, token }: World): Promise<string> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const ask = async (path: string, body?: object) =>
    (await (
      await fetch(`${url}/api/v1/automations${path}`, {
        headers,
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      })
    ).json()) as { id: string; items: { id: string }[] };
  const { items } = await ask("/list");
  for (const { name, rrule } of items.length === 0 ? planned : []) {
    const { id } = await ask("/create", { name, data: { prompt, model_id: "miller-large", rrule } });
    await ask(name.startsWith("Flour") ? `/${id}/toggle` : `/${id}/run`, {});
  }
  return (await ask("/list?query=Gauge")).items[0]?.id ?? "";
}

async function openAutomations(page: Page, world: World): Promise<string> {
  const id = await makeAutomations(world);
  await page.goto("/automations");
  await page.getByText("Gauge of the morning").first().waitFor();
  return id;
}

/** Prompts that run by themselves. */
export const automationStates: readonly State[] = [
  {
    name: "automations",
    looks: ["desk-light", "desk-dark", "phone-light"],
    show: openAutomations,
  },
  {
    name: "automation",
    looks: ["desk-light", "desk-dark", "phone-dark"],
    show: async (page, world) => {
      const id = await openAutomations(page, world);
      await page.goto(`/automations/edit/${id}`);
      await page.getByRole("group", { name: "Next runs" }).getByRole("listitem").first().waitFor();
    },
  },
  {
    name: "automation-new",
    looks: ["desk-light", "phone-light"],
    show: async (page) => {
      await page.goto("/automations/new");
      await page.getByRole("textbox", { name: "When" }).fill("every weekday at 9 unless it rains");
      await page.getByText("was not understood").waitFor();
    },
  },
];
