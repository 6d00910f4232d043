import { server } from "../kit/server.ts";
import { session } from "../kit/stores/session.svelte.ts";

/** Gives an account that has no time zone yet that of the device; its settings change it. */
export function keepTimeZone(): void {
  let asked: string | undefined;
  $effect(() => {
    const { current } = session;
    if (!current || session.isPending || session.isView || current.timezone || asked === current.id) {
      return;
    }
    asked = current.id;
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
    void server.call("POST /api/v1/auths/update/timezone", { body: { timezone } }).then(
      () => session.adopt({ timezone }),
      // A browser without a zone of its own leaves the choice to the settings.
      () => undefined,
    );
  });
}
