import type { Page } from "playwright-core";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const all = ["desk-light", "desk-dark", "phone-light", "phone-dark"] as const;
const wishes: readonly (readonly [string, string])[] = [
  ["Hills behind the river, oil on canvas", "1024x1024"],
  ["The weir under a full moon, as a linocut", "1024x1024"],
  ["The valley in a sandstorm", "1536x1024"],
  ["A winter morning above the mill pond, soft fog, long shadows", "1024x1536"],
  ["The mill pond in spring", "1024x1024"],
  ["Dusk over the lock, watercolour", "1536x1024"],
  ["Terraces at noon, poster in four colours", "1024x1024"],
  ["The same valley a hundred years ago, sepia", "1024x1024"],
  ["A river that runs uphill, as an engraving", "1024x1536"],
  ["Morning light on the ridge", "1024x1024"],
];

let made: Promise<void> | undefined;

async function makePictures({ url, token }: World): Promise<void> {
  for (const [prompt, size] of wishes) {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const body = JSON.stringify({ prompt, size });
    const answer = await fetch(`${url}/api/v1/images/generations`, { method: "POST", headers, body });
    if (!answer.ok) {
      throw new Error(`The engine answered ${answer.status}: ${await answer.text()}`);
    }
  }
}

async function openGallery(page: Page, world: World): Promise<void> {
  await (made ??= makePictures(world));
  await page.goto("/images");
  await page.getByRole("button", { name: "Morning light on the ridge" }).waitFor();
}

/** Pages of pictures. */
export const imageStates: readonly State[] = [
  {
    name: "images-empty",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      // Empty as long as it is taken before the others.
      await page.goto("/images");
      await page.getByRole("textbox", { name: "Describe a picture" }).waitFor();
    },
  },
  { name: "images", looks: all, show: openGallery },
  {
    name: "images-open",
    looks: all,
    show: async (page, world) => {
      await openGallery(page, world);
      await page.getByRole("button", { name: "A winter morning" }).click();
      await page.getByRole("dialog").getByRole("img").waitFor();
    },
  },
  {
    name: "images-change",
    looks: ["desk-dark", "phone-light"],
    show: async (page, world) => {
      await openGallery(page, world);
      await page.getByRole("button", { name: "Dusk over the lock" }).click();
      await page.getByRole("button", { name: "Change it" }).click();
      await page.getByRole("textbox").fill("Put a heron at the lock");
    },
  },
  {
    name: "images-making",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openGallery(page, world);
      await page.route("**/images/generations", () => {});
      await page.getByRole("textbox").fill("A lock keeper's house in heavy rain, seen from the towpath");
      await page
        .getByRole("combobox", { name: "Number" })
        .or(page.getByRole("button", { name: /^Number/ }))
        .click();
      await page.getByRole("option", { name: "2" }).click();
      await page.getByRole("button", { name: "Make", exact: true }).click();
      await page.getByRole("button", { name: "Stop" }).waitFor();
    },
  },
  {
    name: "admin-images",
    looks: all,
    show: async (page) => {
      await page.goto("/admin/images");
      await page.getByRole("combobox", { name: "Engine" }).first().waitFor();
    },
  },
  {
    name: "admin-images-tried",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/admin/images");
      await page.getByRole("textbox", { name: "Try a picture" }).fill("Morning light on the ridge");
      await page.getByRole("button", { name: "Try", exact: true }).click();
      await page.getByRole("img", { name: "Morning light on the ridge" }).scrollIntoViewIfNeeded();
    },
  },
];
