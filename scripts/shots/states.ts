import { functionStates } from "./function-states.ts";
import type { Page } from "playwright-core";
import { factorStates, factorSteps } from "./factor-states.ts";
import { calendarStates } from "./calendar-states.ts";
import { audioStates } from "./audio-states.ts";
import { automationStates } from "./automation-states.ts";
import { accessStates, channelStates } from "./channel-states.ts";
import { delegatingStates } from "./delegating-states.ts";
import { chatStates } from "./chat-states.ts";
import { operatorStates } from "./operator-states.ts";
import { peopleStates } from "./people-states.ts";
import { settingsStates } from "./settings-states.ts";
import type { Look, State } from "./state.ts";
import { gatewayStates } from "./gateway-states.ts";
import { imageStates } from "./image-states.ts";
import { knowledgeStates } from "./knowledge-states.ts";
import { mcpStates } from "./mcp-states.ts";
import { memoryStates } from "./memory-states.ts";
import { noteStates } from "./note-states.ts";
import { appStates } from "./app-states.ts";
import { notificationStates } from "./notification-states.ts";
import { serverStates } from "./server-states.ts";
import { toolStates } from "./tool-states.ts";
import { promptStates } from "./prompt-states.ts";
import { workspaceToolStates } from "./workspace-tool-states.ts";
import { workspaceStates } from "./workspace-states.ts";

const all: readonly Look[] = ["desk-light", "desk-dark", "phone-light", "phone-dark"];
const desk: readonly Look[] = ["desk-light"];

const composer = (page: Page) => page.getByRole("textbox", { name: /message/i });

async function ask(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  // On a phone the key begins a line.
  await page.getByRole("button", { name: "Send" }).click();
}

/** Every state that is looked at, in the order of the folder. */
export const states: readonly State[] = [
  { name: "home", looks: all, show: (page) => page.goto("/") },
  { name: "chat", looks: all, show: (page, { chats }) => page.goto(`/c/${chats.mill}`) },
  {
    name: "chat-top",
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.mill}`);
      await page.getByText("water wheel turns slowly").first().scrollIntoViewIfNeeded();
    },
  },
  { name: "tool-calls-and-sources", looks: all, show: (page, { chats }) => page.goto(`/c/${chats.tools}`) },
  {
    name: "tool-call-open",
    looks: ["desk-light", "phone-dark"],
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.tools}`);
      const call = page.getByRole("button", { name: /gauge level/i }).first();
      await call.scrollIntoViewIfNeeded();
      await call.click();
    },
  },
  {
    name: "sources-panel",
    looks: ["desk-light", "phone-light"],
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.tools}`);
      await page
        .getByRole("button", { name: /sources/i })
        .first()
        .click();
    },
  },
  {
    name: "diagram",
    looks: ["desk-light", "desk-dark"],
    show: (page, { chats }) => page.goto(`/c/${chats.diagram}`),
  },
  { name: "long-code", show: (page, { chats }) => page.goto(`/c/${chats.longCode}`) },
  { name: "error", show: (page, { chats }) => page.goto(`/c/${chats.failed}`) },
  {
    name: "streaming",
    looks: all,
    show: async (page) => {
      await page.goto("/");
      await ask(page, "Tell me all about the parts of a mill.");
      await page.getByText("2. Part of the mill").waitFor();
    },
  },
  {
    name: "model-picker",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/");
      await page.getByRole("button", { name: /model/i }).first().click();
    },
  },
  {
    name: "controls",
    looks: ["desk-light", "phone-dark"],
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.mill}`);
      await page
        .getByRole("button", { name: /controls/i })
        .first()
        .click();
    },
  },
  {
    name: "palette",
    looks: ["desk-light", "desk-dark", "phone-light"],
    show: async (page) => {
      await page.goto("/");
      await composer(page).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").first().fill("mill");
    },
  },
  {
    name: "shortcuts",
    looks: desk,
    show: async (page) => {
      await page.goto("/");
      await composer(page).waitFor();
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.keyboard.press("?");
    },
  },
  {
    name: "drawer",
    looks: ["phone-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/");
      await page.getByRole("button", { name: /open the sidebar/i }).click();
    },
  },
  {
    name: "share",
    looks: ["desk-light", "phone-light"],
    show: async (page, { chats }) => {
      await page.goto(`/c/${chats.mill}`);
      await page
        .getByRole("button", { name: /^share/i })
        .first()
        .click();
    },
  },
  {
    name: "shared-page",
    looks: ["desk-light", "phone-dark"],
    show: (page, { share }) => page.goto(`/s/${share}`),
  },
  { name: "settings-account", looks: all, show: (page) => page.goto("/settings/account") },
  { name: "settings-interface", show: (page) => page.goto("/settings/interface") },
  {
    name: "settings-usage",
    looks: ["desk-light", "desk-dark"],
    show: (page) => page.goto("/settings/usage"),
  },
  { name: "settings-data", looks: desk, show: (page) => page.goto("/settings/data") },
  ...chatStates,
  ...operatorStates,
  ...workspaceStates,
  ...knowledgeStates,
  ...settingsStates,
  ...peopleStates,
  ...factorStates,
  ...functionStates,
  ...audioStates,
  ...imageStates,
  ...mcpStates,
  ...memoryStates,
  ...appStates,
  ...notificationStates,
  ...automationStates,
  ...noteStates,
  ...calendarStates,
  ...channelStates,
  ...accessStates,
  ...gatewayStates,
  ...toolStates,
  ...delegatingStates,
  ...serverStates,
  ...promptStates,
  ...workspaceToolStates,
  { name: "not-found", looks: desk, show: (page) => page.goto("/there-is-nothing-here") },
];

/** States of people who are not signed in. */
export const strangerStates: readonly State[] = [
  { name: "sign-in", looks: all, show: (page) => page.goto("/auth") },
  {
    name: "sign-up",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await page.goto("/auth");
      await page.getByRole("button", { name: /create one/i }).click();
      await page.getByRole("textbox", { name: "Name" }).fill("Grace");
    },
  },
  ...factorSteps,
];
