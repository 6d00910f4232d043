import type { Page } from "playwright-core";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

/** Opens the first card whose line holds `text`. */
async function unfold(page: Page, text: string): Promise<void> {
  await page
    .getByRole("article")
    .filter({ hasText: text })
    .getByRole("button", { expanded: false })
    .first()
    .click();
}

/** Calls of models, so that there is something to count. */
async function call({ url, token }: World, model: string, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await fetch(`${url}/api/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "How does a mill work?" }] }),
    });
  }
}

/** Pages of administrators about upstreams and the server itself. */
export const operatorStates: readonly State[] = [
  { name: "admin-connections", show: (page) => page.goto("/admin/connections") },
  {
    name: "admin-web-search",
    show: async (page) => {
      await page.goto("/admin/web-search");
      await page.getByRole("combobox", { name: /^Engine/ }).click();
      await page.getByRole("option", { name: "Google" }).click();
      await page.getByLabel("Try a search").fill("water mill");
      await page.getByRole("switch", { name: "Ask people before each search" }).click();
    },
  },
  {
    name: "admin-connection-open",
    show: async (page) => {
      await page.goto("/admin/connections");
      await unfold(page, "Common format");
      await page.getByRole("button", { name: "Names, headers and parameters" }).click();
      await page.getByRole("button", { name: "Test" }).click();
      await page.getByText(/models? found/).waitFor();
    },
  },
  {
    name: "admin-runtime-open",
    show: async (page) => {
      await page.goto("/admin/connections");
      await unfold(page, "Local runtime");
      await page.getByText("In memory").waitFor();
    },
  },
  { name: "admin-plugins", show: (page) => page.goto("/admin/plugins") },
  {
    name: "admin-plugin-open",
    show: async (page) => {
      await page.goto("/admin/plugins");
      await page.getByRole("searchbox", { name: "Search the plugins" }).fill("folders");
      await unfold(page, "Chat folders");
      await page.locator("summary", { hasText: "Routes" }).click();
    },
  },
  {
    name: "admin-analytics",
    show: async (page, world) => {
      await call(world, "miller-large", 5);
      await call(world, "river-reasoner", 2);
      await page.goto("/admin/analytics");
      await page.getByRole("region", { name: "By model" }).waitFor();
    },
  },
  { name: "admin-jobs", show: (page) => page.goto("/admin/jobs") },
  {
    name: "admin-health",
    show: async (page) => {
      await page.goto("/admin/health");
      await page.getByText("Answers you").waitFor();
    },
  },
];
