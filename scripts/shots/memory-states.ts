import type { Page } from "playwright-core";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const remembered = [
  { content: "Is called Ada and prefers short answers.", type: "user" },
  { content: "Restores a water mill on the river Leine, with four wheels.", path: "work/mill" },
  { content: "The council decides about the weir on the first of March.", path: "work/permits" },
];

async function openMemories(page: Page, { url, token }: World): Promise<void> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const known = (await (await fetch(`${url}/api/v1/memories/`, { headers })).json()) as unknown[];
  for (const memory of known.length === 0 ? remembered : []) {
    await fetch(`${url}/api/v1/memories/add`, { method: "POST", headers, body: JSON.stringify(memory) });
  }
  await page.goto("/settings/memories");
  await page.getByText("Restores a water mill").first().waitFor();
}

/** What models remember of a person. */
export const memoryStates: readonly State[] = [
  { name: "memories", looks: ["desk-light", "desk-dark", "phone-light"], show: openMemories },
  {
    name: "memory-dialog",
    looks: ["phone-dark"],
    show: async (page, world) => {
      await openMemories(page, world);
      await page.getByRole("button", { name: "Add a memory" }).click();
      await page.getByRole("textbox", { name: "To remember" }).fill("Likes tea in the afternoon.");
    },
  },
];
