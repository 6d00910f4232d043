import type { Api } from "#plugins/catalogue.ts";
import { createClient } from "./client.ts";
import { t } from "./i18n/index.svelte.ts";
import { learnTime } from "./stores/server-time.ts";

/** The event of the window for an answer that asks for a sign-in. */
export const unauthorized = "unauthorized";

/** The only way to the server. The session's cookie goes along by itself. */
export const server = createClient<Api>({
  unreachable: () => t("The server cannot be reached. Try again in a moment."),
  onAnswer: learnTime,
  onUnauthorized: () => dispatchEvent(new Event(unauthorized)),
});
