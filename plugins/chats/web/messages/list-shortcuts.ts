import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { Shortcut } from "#plugins/web/kit/shortcuts.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { textOf } from "../data/reply.ts";
import type { ChatMessage, ChatView } from "../data/types.ts";
import { lastCode } from "./fences.ts";
import type { Find } from "./find.svelte.ts";
import { focusedMessage, focusMessage } from "./focused-message.ts";
import { draftsOf } from "./message-drafts.ts";

export interface ShownList {
  readonly chat: ChatView;
  readonly find: Find;
  readonly scroller: HTMLElement | undefined;
  /** The first and the last message in sight. */
  readonly inSight: readonly [string | undefined, string | undefined];
  reveal(id: string): void;
}

/** The keys of the messages of a chat. */
export function listShortcuts(list: () => ShownList): Shortcut[] {
  const group = t("Messages");
  const isFree = () => document.querySelector('[role="dialog"]') === null;
  return [
    {
      keys: "]",
      title: t("Next version of the selected message"),
      group,
      isAvailable: () => versionBeside(list().chat, 1) !== undefined,
      run: () => showVersion(list(), 1),
    },
    {
      keys: "[",
      title: t("Previous version of the selected message"),
      group,
      isAvailable: () => versionBeside(list().chat, -1) !== undefined,
      run: () => showVersion(list(), -1),
    },
    {
      keys: "R",
      title: t("Regenerate the selected reply"),
      group,
      isAvailable: () => replyToRepeat(list().chat) !== undefined,
      run: () => regenerate(list()),
    },
    {
      keys: "E",
      title: t("Edit the selected message"),
      group,
      isAvailable: () => messageToEdit(list().chat) !== undefined,
      run: () => edit(list().chat),
    },
    { keys: "K", title: t("Select the previous message"), group, run: () => move(list(), -1) },
    { keys: "J", title: t("Select the next message"), group, run: () => move(list(), 1) },
    {
      keys: "Mod+Shift+;",
      title: t("Copy the last code"),
      group,
      isAvailable: isFree,
      run: () => copyCode(list().chat),
    },
    {
      keys: "Mod+F",
      title: t("Find in this chat"),
      group,
      isAvailable: isFree,
      run: () => openFind(list().find),
    },
  ];
}

function move(list: ShownList, by: 1 | -1): Promise<void> | undefined {
  const ids = list.chat.branchIds;
  const at = ids.indexOf(focusedMessage() ?? "");
  const [first, last] = list.inSight;
  const id = at >= 0 ? ids[at + by] : by > 0 ? first : last;
  return id === undefined ? undefined : focusMessage(id, list);
}

function messageToEdit(chat: ChatView): ChatMessage | undefined {
  const id = focusedMessage() ?? "";
  const mayEdit = chat.canWrite && session.may("chat.edit") && !chat.isWriting(id);
  return mayEdit ? chat.message(id) : undefined;
}

function edit(chat: ChatView): void {
  const message = messageToEdit(chat);
  const drafts = draftsOf(chat);
  if (message && !drafts.has(message.id)) {
    drafts.set(message.id, textOf(message));
  }
}

/** The chosen reply, or the one to the chosen question. */
function replyToRepeat(chat: ChatView): ChatMessage | undefined {
  const id = focusedMessage();
  const message = chat.message(id ?? "");
  const ids = chat.branchIds;
  const reply = message?.role === "user" ? chat.message(ids[ids.indexOf(message.id) + 1] ?? "") : message;
  const mayAsk = chat.canWrite && !chat.isRunning && session.may("chat.regenerate_response");
  return mayAsk && reply?.role === "assistant" ? reply : undefined;
}

async function regenerate(list: ShownList): Promise<void> {
  const { chat } = list;
  const reply = replyToRepeat(chat);
  if (reply) {
    chat.regenerate(reply.id).catch((error: unknown) => toasts.fail(error, t("Something went wrong.")));
    await focusMessage(chat.branchIds.at(-1) ?? "", list);
  }
}

function versionBeside(chat: ChatView, by: 1 | -1): string | undefined {
  const id = focusedMessage();
  const versions = id === undefined ? [] : chat.versions(id);
  return versions[versions.indexOf(id ?? "") + by];
}

async function showVersion(list: ShownList, by: 1 | -1): Promise<void> {
  const id = versionBeside(list.chat, by);
  if (id !== undefined) {
    list.chat.show(id);
    await focusMessage(id, list);
  }
}

async function copyCode(chat: ChatView): Promise<void> {
  const code = chat.branch
    .toReversed()
    .values()
    .map((message) => (message.role === "assistant" ? lastCode(textOf(message)) : undefined))
    .find((one) => one !== undefined);
  if (code === undefined) {
    toasts.show({ text: t("There is no code in this chat.") });
    return;
  }
  try {
    await navigator.clipboard.writeText(code);
    toasts.show({ kind: "good", text: t("The last code was copied.") });
  } catch (error) {
    toasts.fail(error, t("The code was not copied."));
  }
}

function openFind(find: Find): void {
  const field = document.querySelector<HTMLInputElement>("[data-find]");
  find.isOpen = true;
  field?.focus();
  field?.select();
}
