import type { Page } from "playwright-core";
import type { State } from "./state.ts";

const message = (page: Page) => page.getByRole("textbox", { name: /message/i });

async function send(page: Page, text: string): Promise<void> {
  await message(page).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

/** States of the chat page that take some steps to reach. */
export const chatStates: readonly State[] = [
  {
    name: "approval",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/");
      await send(page, "Open the sluice a little: the stones run dry.");
      await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
    },
  },
  {
    name: "model-asks",
    looks: ["desk-light", "desk-dark", "phone-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/");
      await send(page, "Plan the repair of the mill.");
      const card = page.getByRole("form", { name: "The model’s questions" });
      await card.waitFor();
      await card.getByText("Larch").click();
      await card.getByRole("button", { name: "Send the answer" }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: "model-asks-own-answer",
    looks: ["desk-light", "phone-light"],
    show: async (page) => {
      await page.goto("/");
      await send(page, "Plan the repair of the mill.");
      const card = page.getByRole("form", { name: "The model’s questions" });
      await card.getByText("Something else").click();
      await card.getByRole("textbox").fill("Robinia, as the paddles before");
    },
  },
  {
    name: "answers-and-checklist",
    looks: ["desk-light", "desk-dark", "phone-dark"],
    show: async (page) => {
      await page.goto("/");
      await send(page, "Plan the repair of the mill.");
      const card = page.getByRole("form", { name: "The model’s questions" });
      await card.getByText("Oak").click();
      await card.getByText("After the harvest").click();
      await card.getByRole("button", { name: "Send the answer" }).click();
      await page.getByLabel("Your answers").waitFor();
      await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
      await page.getByRole("region", { name: "Tasks" }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: "side-by-side",
    looks: ["desk-light", "desk-dark", "phone-light"],
    show: (page, { chats }) => page.goto(`/c/${chats.compared}`),
  },
  {
    name: "versions-and-edit",
    looks: ["desk-light", "phone-light"],
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.tools}`);
      const own = page.getByText("Is the river high enough").first();
      await own.hover();
      await page.getByRole("button", { name: "Edit" }).first().click();
    },
  },
  {
    name: "queue",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/");
      await send(page, "Tell me all about the parts of a mill.");
      await page.getByText("2. Part of the mill").waitFor();
      await message(page).fill("And which of them wear out first?");
      await page.keyboard.press("Control+Enter");
    },
  },
  {
    name: "attachments",
    looks: ["desk-light", "phone-light"],
    show: async (page) => {
      await page.goto("/");
      await message(page).waitFor();
      const chosen = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: /^add/i }).first().click();
      await page.getByRole("menuitem", { name: /files/i }).first().click();
      const text = "Water in, flour out.\n".repeat(40);
      await (
        await chosen
      ).setFiles([
        { name: "deed-of-1782.txt", mimeType: "text/plain", buffer: Buffer.from(text) },
        { name: "wheel.svg", mimeType: "image/svg+xml", buffer: Buffer.from(wheel) },
      ]);
      await message(page).fill("What do these two have in common?");
    },
  },
  {
    name: "model-mention",
    looks: ["desk-light"],
    show: async (page) => {
      await page.goto("/");
      await message(page).pressSequentially("@mil");
    },
  },
  {
    name: "temporary-chat",
    looks: ["desk-light", "phone-dark"],
    show: (page) => page.goto("/?temporary=true"),
  },
  {
    name: "rating",
    looks: ["desk-light", "phone-light"],
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.tools}`);
      await page.getByRole("button", { name: /^good/i }).first().click();
    },
  },
  {
    name: "chat-menu",
    looks: ["desk-dark"],
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.mill}`);
      await page.getByRole("button", { name: "Chat menu" }).click();
    },
  },
  {
    name: "search-in-chats",
    looks: ["desk-light"],
    show: async (page) => {
      await page.goto("/");
      await page.getByRole("searchbox", { name: "Search chats" }).fill("torque");
      await page.locator("mark").first().waitFor();
    },
  },
  {
    name: "select-chats",
    looks: ["desk-light"],
    show: async (page) => {
      await page.goto("/");
      const rows = page.getByRole("region", { name: "Chats" }).getByRole("link");
      await rows.nth(2).click({ button: "right" });
      await page.getByRole("menuitem", { name: /^select/i }).click();
      await rows.nth(4).click();
    },
  },
  {
    name: "server-away",
    looks: ["desk-light", "phone-dark"],
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.mill}`);
      await message(page).waitFor();
      await page.context().setOffline(true);
      await page.waitForTimeout(1500);
    },
  },
  { name: "archive", looks: ["desk-light", "phone-light"], show: (page) => page.goto("/archived") },
  { name: "no-such-chat", looks: ["phone-light"], show: (page) => page.goto("/c/there-is-none") },
];

const wheel =
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="120"><circle cx="60" cy="60" r="50" fill="none" stroke="teal" stroke-width="8"/></svg>';
