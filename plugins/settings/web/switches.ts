import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SwitchSetting } from "#plugins/web/kit/setting-values.ts";

/** Settings about writing that are on or off, in the language of now. */
export const writing = (): readonly SwitchSetting[] => [
  {
    setting: "ctrlEnterToSend",
    label: t("Send with Ctrl+Enter"),
    hint: t("Enter begins a line then. On a Mac it is Command+Enter."),
  },
  {
    setting: "largeTextAsFile",
    label: t("Attach long pasted texts as files"),
    hint: t("Texts of more than 2,000 characters do not fill the field."),
  },
  {
    setting: "insertFollowUps",
    label: t("Edit suggestions before they are sent"),
    hint: t("A click on a suggestion or a follow-up writes it into the field."),
  },
  {
    setting: "temporaryChatByDefault",
    label: t("Begin temporary chats"),
    hint: t("New chats are not stored unless you keep them."),
  },
];

/** Settings about how replies are shown. */
export const replies = (): readonly SwitchSetting[] => [
  {
    setting: "widescreenMode",
    label: t("Wide column of messages"),
    hint: t("Messages take the width of the window."),
  },
  {
    setting: "autoScroll",
    label: t("Follow replies"),
    hint: t("The page stays at the end of a reply that is being written."),
  },
  {
    setting: "codeWrap",
    label: t("Wrap code"),
    hint: t("Long lines of code are broken instead of scrolled."),
  },
  {
    setting: "expandDetails",
    label: t("Open reasoning and tools"),
    hint: t("Reasoning and tool calls stand open instead of folded to a line."),
  },
  {
    setting: "showTimestamps",
    label: t("Always show times"),
    hint: t("Each message shows when it was written."),
  },
  {
    setting: "showUsage",
    label: t("Always show tokens and speed"),
    hint: t("They stand below each reply."),
  },
];

/** What is made of a chat after its first reply; each costs a short call of a model. */
export const afterwards = (): readonly SwitchSetting[] => [
  { setting: "autoTitle", label: t("Titles"), hint: t("New chats get a title made from their beginning.") },
  { setting: "autoTags", label: t("Tags"), hint: t("New chats get tags to find them by.") },
  {
    setting: "autoFollowUps",
    label: t("Follow-ups"),
    hint: t("Replies end with questions that you may ask next."),
  },
];
