import type { Page } from "playwright-core";
import type { Look, State } from "./state.ts";

const all: readonly Look[] = ["desk-light", "desk-dark", "phone-light", "phone-dark"];

async function ask(page: Page, words: string): Promise<void> {
  await page.goto("/");
  await page.getByRole("textbox", { name: /message/i }).fill(words);
  await page.getByRole("button", { name: "Send" }).click();
}

/** Sub-agents and timers of models. */
export const delegatingStates: readonly State[] = [
  {
    name: "subagents",
    looks: all,
    async show(page) {
      await ask(page, "Let sub-agents read both reports, and find out what the wood costs.");
      await page.getByText("Both reports agree").first().waitFor();
      await page.getByText("at work").waitFor();
    },
  },
  {
    name: "timers",
    looks: all,
    async show(page) {
      await ask(page, "Keep an eye on the mill race, and remind me of the sluice and of the wood.");
      await page.getByRole("button", { name: /^Cancel the timer: Tell Ada/ }).click();
      await page.getByText("cancelled", { exact: true }).waitFor();
      await page.getByText("The race stands at").first().waitFor();
    },
  },
];
