import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { root } from "../tool.ts";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const kept: Readonly<Record<string, string>> = {
  mask_personal_data: "Mask personal data",
  trim_history: "Trim history",
  router: "Router",
  translate: "Translate",
};

/** Stores some functions, the first two for all models; what is there already stays. */
async function store({ url, token }: World): Promise<void> {
  const post = (path: string, body: unknown = {}) =>
    fetch(`${url}/api/v1/functions${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  for (const [id, name] of Object.entries(kept)) {
    const content = await readFile(`${root}examples/functions/${id}.js`, "utf8");
    const { ok } = await post("/create", { id, name, content });
    if (ok && (id === "mask_personal_data" || id === "trim_history")) {
      await post(`/id/${id}/toggle`);
      await post(`/id/${id}/toggle/global`);
    }
  }
}

async function openEditor(page: Page, world: World, id = "mask_personal_data"): Promise<void> {
  await store(world);
  await page.goto(`/workspace/function/${id}`);
  await page.getByRole("textbox", { name: "Code of the function" }).waitFor();
}

const pane = (page: Page, name: string) => page.getByRole("tab", { name }).click();

/** Pages for those who write functions; the first stands before any is stored. */
export const functionStates: readonly State[] = [
  { name: "functions-empty", show: (page) => page.goto("/workspace/functions") },
  {
    name: "functions-template",
    looks: ["desk-light"],
    show: (page) => page.goto("/workspace/new-function?template=rate_limit"),
  },
  {
    name: "functions-list",
    show: async (page, world) => {
      await store(world);
      await page.goto("/workspace/functions");
    },
  },
  {
    name: "function-editor",
    looks: ["desk-light", "desk-dark", "phone-dark"],
    show: (page, world) => openEditor(page, world),
  },
  {
    name: "function-trial",
    show: async (page, world) => {
      await openEditor(page, world);
      await pane(page, "Try");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByRole("table", { name: "Difference" }).waitFor();
    },
  },
  {
    name: "function-broken",
    looks: ["desk-light"],
    show: async (page, world) => {
      await openEditor(page, world, "router");
      await page.getByRole("textbox", { name: "Code of the function" }).click();
      await page.keyboard.insertText("const = 1;\n");
      await page.getByText("The code does not load.").waitFor();
    },
  },
  {
    name: "function-valves",
    show: async (page, world) => {
      await openEditor(page, world);
      await pane(page, "Valves");
    },
  },
  {
    name: "function-pipeline",
    show: async (page, world) => {
      await store(world);
      await page.goto("/workspace/pipeline");
      await page.getByRole("link", { name: "Trim history" }).waitFor();
    },
  },
];
