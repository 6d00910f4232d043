import type { Page } from "playwright-core";
import { makeApps } from "./app-states.ts";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

let opened: Promise<string> | undefined;

/** A channel in which two people talked and a model answered in a thread. */
async function makeChannel({ url, token }: World): Promise<string> {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
    return (await answer.json()) as { id: string };
  };
  await call("POST", "/configs/settings", { ENABLE_CHANNELS: true });
  const { id } = await call("POST", "/channels/create", {
    name: "weir works",
    type: "group",
    description: "Everything about the weir and the council",
  });
  const post = (content: string, more: object = {}) =>
    call("POST", `/channels/${id}/messages/post`, { content, ...more });
  await post("The council wants the plan of the weir until Friday. Who has the last measurements?");
  const asked = await post(
    "They are in the folder, from **last week**:\n\n- upper gauge 2.31 m\n- lower gauge 1.08 m",
  );
  await call("POST", `/channels/${id}/messages/${asked.id}/reactions/add`, { name: "👍" });
  await post("Thank you. I put them in.", { parent_id: asked.id });
  await post("<@M:miller-large|miller-large> What does a weir need?");
  await call("POST", `/channels/${id}/messages/${asked.id}/pin`, { is_pinned: true });
  return id;
}

async function openChannel(page: Page, world: World): Promise<void> {
  const id = await (opened ??= makeChannel(world));
  await page.goto(`/channels/${id}`);
  await page.getByText("upper gauge").first().waitFor();
}

/** Rooms of people and models. */
export const channelStates: readonly State[] = [
  { name: "channel", looks: ["desk-light", "desk-dark", "phone-light"], show: openChannel },
  {
    name: "channel-thread",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openChannel(page, world);
      await page
        .getByRole("button", { name: /1 reply/ })
        .first()
        .click();
      await page.getByText("I put them in").first().waitFor();
    },
  },
  {
    name: "channel-apps",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await makeApps(world);
      await openChannel(page, world);
      await page.getByRole("button", { name: "Members and settings" }).click();
      await page.getByRole("tab", { name: "Apps" }).click();
      await page
        .getByRole("button", { name: "Add Poll" })
        .or(page.getByRole("button", { name: "Remove Poll" }))
        .click();
      await page.getByRole("list", { name: "Apps of this channel" }).waitFor();
    },
  },
];

/** Pages of administrators about sign-in by providers and directories. */
export const accessStates: readonly State[] = [
  { name: "admin-sign-in", looks: ["desk-light", "phone-dark"], show: (page) => page.goto("/admin/sign-in") },
  {
    name: "admin-directory",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/admin/directory");
      await page.getByRole("heading", { name: "Directory" }).waitFor();
      await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    },
  },
];
