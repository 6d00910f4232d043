import { ApiError } from "#plugins/web/kit/client.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { deliver } from "./deliver.ts";
import { isOpen } from "./delivery.ts";
import { moveQueue } from "./message-queue.svelte.ts";
import { outbox, type OutboxEntry } from "./outbox.ts";
import { Retry } from "./retry.svelte.ts";

/** The page that a message was written in sends it first, if it is still there. */
const pauseMs = 2000;
let sending: Promise<void> | undefined;
const retry = new Retry(() => void sendLeftBehind());

/** Sends what pages that are closed by now could not send, once the server is there. */
export function sendLeftBehind(): Promise<void> {
  sending ??= sendAll().finally(() => (sending = undefined));
  return sending;
}

async function sendAll(): Promise<void> {
  const waiting = () => outbox.all().filter(({ chat }) => !isOpen(chat));
  if (waiting().length === 0) {
    retry.reset();
    return;
  }
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
  for (const entry of waiting()) {
    await send(entry);
  }
  if (waiting().length > 0) {
    retry.plan();
  }
}

async function send(entry: OutboxEntry): Promise<void> {
  const text = String((entry.body["user_message"] as { content?: unknown } | undefined)?.content ?? "");
  try {
    const made = await deliver(entry);
    const id = made ?? entry.chat;
    moveQueue(entry.chat, id);
    toasts.show({
      text: t("A message that waited for the server was sent: {text}", {
        text: Array.from(text.slice(0, 160)).slice(0, 80).join(""),
      }),
      action: { title: t("Open chat"), run: () => router.navigate(`/c/${id}`) },
    });
  } catch (error) {
    if (error instanceof ApiError && error.status !== 409) {
      // The words are not lost: they stand in the notice until it is closed.
      toasts.show({
        kind: "bad",
        seconds: 0,
        text: `${t("A message that waited was not sent.")} ${error.message} ${text}`,
      });
    }
  }
}
