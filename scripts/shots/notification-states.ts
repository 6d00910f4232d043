import type { Page } from "playwright-core";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const people = ["Grace Miller", "Otto Weir"];

const callerOf =
  ({ url, token }: World) =>
  async (route: string, body?: object): Promise<unknown> => {
    const [method, path] = route.split(" ", 2) as [string, string];
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return await (await fetch(`${url}${path}`, init)).json();
  };

async function openInbox(page: Page, world: World): Promise<void> {
  const call = callerOf(world);
  const { items } = (await call("GET /api/v1/notifications/")) as { items: unknown[] };
  if (items.length === 0) {
    for (const name of people) {
      const email = `${name.toLowerCase().replace(" ", ".")}@example.org`;
      await call("POST /api/v1/auths/signup", { name, email, password: "a long password" });
    }
  }
  await page.goto("/notifications");
  await page.getByText("Otto Weir").first().waitFor();
}

async function openWebhooks(page: Page, world: World): Promise<void> {
  const call = callerOf(world);
  const known = (await call("GET /api/events/webhooks")) as unknown[];
  if (known.length === 0) {
    const url = "https://hooks.slack.com/services/T0/B0/secret-of-the-mill";
    await call("POST /api/events/webhooks", {
      name: "Mill office",
      url,
      events: ["auth.signup", "system.*"],
    });
  }
  await page.goto("/admin/webhooks");
  await page.getByText("Mill office").waitFor();
}

/** The notification centre, a person's addresses, and webhooks of administrators. */
export const notificationStates: readonly State[] = [
  {
    name: "notifications",
    looks: ["desk-light", "desk-dark", "phone-light", "phone-dark"],
    show: openInbox,
  },
  {
    name: "notification-settings",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/settings/notifications");
      await page.getByRole("heading", { name: "This browser" }).waitFor();
    },
  },
  { name: "event-webhooks", looks: ["desk-light", "desk-dark", "phone-light"], show: openWebhooks },
  {
    name: "event-webhook-dialog",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openWebhooks(page, world);
      await page.getByRole("button", { name: "Add a webhook" }).click();
      await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("New accounts");
    },
  },
];
