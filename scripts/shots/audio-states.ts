import type { Page } from "playwright-core";
import type { State } from "./state.ts";

const all = ["desk-light", "desk-dark", "phone-light", "phone-dark"] as const;

async function call(page: Page, state: string): Promise<void> {
  await page.goto("/");
  await page.getByRole("button", { name: "Talk" }).click();
  await page.locator(`[data-call="${state}"]`).waitFor({ timeout: 20_000 });
}

/** Dictation, reading aloud, calls, and their settings. */
export const audioStates: readonly State[] = [
  {
    name: "dictation",
    looks: all,
    show: async (page) => {
      await page.goto("/");
      await page.getByRole("button", { name: "Dictate" }).click();
      await page.getByRole("group", { name: "Dictation" }).waitFor();
      await page.waitForTimeout(2_500);
    },
  },
  {
    name: "reading-aloud",
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.mill}`);
      await page.getByRole("button", { name: "Read aloud" }).last().click();
      await page.getByRole("button", { name: "Pause reading" }).waitFor();
    },
  },
  { name: "call-listening", show: (page) => call(page, "listening") },
  { name: "call-speaking", looks: all, show: (page) => call(page, "speaking") },
  {
    name: "voice-settings",
    looks: all,
    show: async (page) => {
      await page.goto("/settings/voice");
      await page.getByRole("button", { name: "Hear it" }).waitFor();
    },
  },
  {
    name: "admin-audio",
    looks: all,
    show: async (page) => {
      await page.goto("/admin/audio");
      await page.getByRole("combobox", { name: "Engine for speech" }).waitFor();
    },
  },
];
