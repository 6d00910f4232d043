import { t } from "../kit/i18n/index.svelte.ts";
import { toasts } from "../kit/stores/toasts.svelte.ts";

/** Tells that a part of a page, such as a dialog, did not come; whole pages tell it in their own place. */
export function tellMissingParts(): void {
  const missing = new WeakSet<object>();
  addEventListener("vite:preloadError", (event) => {
    missing.add((event as Event & { readonly payload: Error }).payload);
  });
  addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof Error && missing.has(event.reason)) {
      event.preventDefault();
      toasts.show({
        kind: "bad",
        text: t("A part of this page could not be loaded. Once the server can be reached, reload the page."),
      });
    }
  });
}
