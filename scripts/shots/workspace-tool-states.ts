import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { root } from "../tool.ts";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const kept: Readonly<Record<string, string>> = {
  convert_units: "Convert units",
  shared_list: "Shared list",
  weather: "Weather",
};

/** Stores the examples as tools, one of them for everybody; what is there already stays. */
async function store({ url, token }: World): Promise<void> {
  const everybody = [{ principal_type: "user", principal_id: "*", permission: "read" }];
  for (const [id, name] of Object.entries(kept)) {
    const content = await readFile(`${root}examples/tools/${id}.js`, "utf8");
    await fetch(`${url}/api/v1/tools/create`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ id, name, content, access_grants: id === "weather" ? everybody : [] }),
    });
  }
}

const pane = (page: Page, name: string) => page.getByRole("tab", { name }).click();

/** Pages for those who write tools; the first stands before any is stored. */
export const workspaceToolStates: readonly State[] = [
  { name: "workspace-tools-empty", show: (page) => page.goto("/workspace/tools") },
  {
    name: "workspace-tools-list",
    show: async (page, world) => {
      await store(world);
      await page.goto("/workspace/tools");
    },
  },
  {
    name: "workspace-tool-try",
    show: async (page, world) => {
      await store(world);
      await page.goto("/workspace/tool/shared_list");
      await pane(page, "Try");
      await page.getByRole("button", { name: "Call it" }).click();
      await page.getByText("What the person sees").waitFor();
    },
  },
  {
    name: "workspace-tool-access",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await store(world);
      await page.goto("/workspace/tool/weather");
      await pane(page, "Access");
    },
  },
];
