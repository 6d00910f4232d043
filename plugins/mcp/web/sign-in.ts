import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";

/** Leads to the server's sign-in, and afterwards back to the page of now. */
export function openSignIn(authorizeUrl: string): void {
  const here = location.pathname + location.search;
  location.assign(`${authorizeUrl}?return=${encodeURIComponent(here)}`);
}

/** Where people sign in to the server of a tool id (`server:mcp:<id>`). */
export function toAuthorizeUrl(toolId: string): string {
  return `/oauth/clients/${encodeURIComponent(toolId.replace(/^server:/, "")).replace("%3A", ":")}/authorize`;
}

/** Says how a sign-in ended that led back to this page, once. */
export function announceReturn(): void {
  const url = new URL(location.href);
  const result = url.searchParams.get("sign_in");
  if (result === null) {
    return;
  }
  url.searchParams.delete("sign_in");
  history.replaceState(history.state, "", url);
  toasts.show(
    result === "done"
      ? { kind: "good", text: t("You are signed in. Its tools work from now on.") }
      : { kind: "warning", text: t("The server did not sign you in. You can try again at any time.") },
  );
}
