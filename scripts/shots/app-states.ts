import type { Page } from "playwright-core";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const manifests = [
  {
    name: "Poll",
    description: "Asks the channel. Write: @Poll Lunch? | Pizza | Soup",
    url: "https://polls.example.org/events",
    scopes: ["messages:read", "messages:write", "reactions:write"],
    events: ["app.mentioned", "app.added"],
  },
  {
    name: "Water level",
    description: "Says when the mill pond rises.",
    url: "https://pegel.example.org/hooks",
    scopes: ["messages:write"],
    events: ["app.mentioned"],
  },
];

/** Registers the apps once. */
export async function makeApps({ url, token }: World): Promise<void> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  await fetch(`${url}/api/v1/configs/settings`, {
    method: "POST",
    headers,
    body: JSON.stringify({ ENABLE_APPS: true, ENABLE_CHANNELS: true }),
  });
  const known = (await (await fetch(`${url}/api/v1/apps/`, { headers })).json()) as unknown[];
  for (const manifest of known.length === 0 ? manifests : []) {
    await fetch(`${url}/api/v1/apps/create`, { method: "POST", headers, body: JSON.stringify({ manifest }) });
  }
}

async function openApps(page: Page, world: World): Promise<void> {
  await makeApps(world);
  await page.goto("/admin/apps");
  await page.getByText("Water level").first().waitFor();
}

/** Apps in the hands of administrators. */
export const appStates: readonly State[] = [
  { name: "apps", looks: ["desk-light", "desk-dark", "phone-light", "phone-dark"], show: openApps },
  {
    name: "apps-register",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openApps(page, world);
      await page.getByRole("button", { name: "Register an app" }).click();
      await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Ferry");
    },
  },
];
