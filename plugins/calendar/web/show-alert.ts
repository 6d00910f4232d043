import { plural, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import type { EventEnvelope } from "#plugins/web/kit/stores/socket.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";

/** Reminds of an event that is about to start, whichever page is open. */
export async function answer({ data: { data } }: EventEnvelope): Promise<void> {
  const { title, minutes } = data as { readonly title: string; readonly minutes: number };
  const when = minutes === 0 ? t("starts now") : plural(minutes, "in {count} minute", "in {count} minutes");
  toasts.show({
    kind: "info",
    text: `${title} · ${when}`,
    action: { title: t("Open the calendar"), run: () => router.navigate("/calendar") },
  });
}
