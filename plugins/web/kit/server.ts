import type { Api } from "#plugins/catalogue.ts";
import { accountHeader, createClient } from "./client.ts";
import { t } from "./i18n/index.svelte.ts";
import { learnTime } from "./stores/server-time.ts";

/** The event of the window for an answer that asks for a sign-in. */
export const unauthorized = "unauthorized";
/** The event of the window for a change that was refused because another account is signed in by now. */
export const otherAccount = "otheraccount";

let shownAccount: () => string | undefined = () => undefined;

/** Called once by the session with what tells for which account this page is. */
export function tellAccountWith(tell: () => string | undefined): void {
  shownAccount = tell;
}

/** Goes along with each request, so that nothing is changed in the name of an account that this page is not of. */
export function accountHeaders(): Record<string, string> {
  const account = shownAccount();
  return account === undefined ? {} : { [accountHeader]: account };
}

/** The only way to the server. The session's cookie goes along by itself. */
export const server = createClient<Api>({
  headers: accountHeaders,
  unreachable: () => t("The server cannot be reached. Try again in a moment."),
  onAnswer: learnTime,
  onUnauthorized: () => dispatchEvent(new Event(unauthorized)),
  onOtherAccount: () => dispatchEvent(new Event(otherAccount)),
});
