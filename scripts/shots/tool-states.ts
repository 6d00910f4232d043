import type { Page } from "playwright-core";
import type { Look, State } from "./state.ts";

const all: readonly Look[] = ["desk-light", "desk-dark", "phone-light", "phone-dark"];
const some: readonly Look[] = ["desk-light", "desk-dark", "phone-dark"];

async function openBusy(page: Page, id: string): Promise<void> {
  await page.goto(`/c/${id}`);
  await page.getByRole("button", { name: /3 tools/ }).waitFor();
}

/** Tools in chats, in the composer, at models and in the rules of administrators. */
export const toolStates: readonly State[] = [
  { name: "tools-many-calls", looks: all, show: async (page, { chats }) => openBusy(page, chats.busy) },
  {
    name: "tools-call-open",
    looks: all,
    show: async (page, { chats }) => {
      await openBusy(page, chats.busy);
      await page.getByRole("button", { name: /3 tools/ }).click();
      await page
        .getByRole("button", { name: /List gauges/ })
        .last()
        .click();
      await page.getByText("Mill race").first().scrollIntoViewIfNeeded();
    },
  },
  {
    name: "tools-call-failed",
    looks: ["desk-light", "phone-dark"],
    show: async (page, { chats }) => {
      await openBusy(page, chats.busy);
      await page.getByRole("button", { name: /Send a notice.*failed/ }).click();
      await page.getByRole("button", { name: /Send a notice.*attempt/ }).click();
      await page.getByText("asked again").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "tools-menu",
    looks: all,
    show: async (page) => {
      await page.goto("/");
      await page.getByRole("button", { name: /^Tools/ }).click();
      await page.getByRole("checkbox").first().check();
      await page.getByRole("checkbox").nth(1).check();
    },
  },
  {
    name: "tools-of-a-model",
    looks: all,
    show: async (page) => {
      await page.goto("/workspace/models/new");
      await page.getByText("The model decides by itself").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "tools-approvals",
    looks: some,
    show: async (page) => {
      await page.goto("/admin/approvals");
      await page.getByRole("heading", { name: "Built-in tools" }).waitFor();
    },
  },
];
