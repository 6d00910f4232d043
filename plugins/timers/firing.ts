import type { Principal } from "#kernel/access/principal.ts";
import { seconds } from "#storage/clock.ts";
import { toIso } from "./due-time.ts";
import { show, type TimerParts } from "./parts.ts";
import type { TimerRow } from "./tables.ts";

/** Contract §9. */
const mostAtOnce = 10;
/** Seconds until a timer is tried again that could not fire. */
const whileBusy = 1;
const afterFailure = 30;
/** Seconds from which on the model is told that a timer is late. */
const lateAfter = 60;

/** Lets chats go on whose timers are due; on each replica, and each timer once. */
export function createFiring(parts: TimerParts, pollSeconds: () => number) {
  const { continuation, store, log } = parts;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    if (!continuation.isOn()) {
      return;
    }
    const claimed = await store.claimDue(mostAtOnce);
    await Promise.all(claimed.map((row) => fire(row)));
  }

  async function fire(row: TimerRow): Promise<void> {
    try {
      const owner = await parts.accounts.principalOf(row.user_id);
      const outcome = await continuation.tell({
        id: row.id,
        userId: row.user_id,
        chatId: row.chat_id,
        content: await toContent(row, owner, parts),
        meta: { kind: "timer", timer_id: row.id, prompt: row.prompt, due_at: row.due_at },
        request: row.request,
        isMine: () => store.keepClaim(row),
      });
      if (outcome === "told") {
        show(await store.fired(row), parts);
      } else if (outcome === "busy") {
        await store.release(row, whileBusy);
      } else if (outcome === "gone") {
        show(await store.cancel({ id: row.id }, "gone"), parts);
      }
    } catch (error) {
      log.warn({ err: error, timer: row.id }, "a timer could not fire");
      await store.release(row, afterFailure);
    }
  }

  const lookOnce = () => {
    looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, "due timers could not be looked for"))
      .finally(() => (looking = undefined));
  };

  return {
    start() {
      timer = setInterval(lookOnce, pollSeconds() * 1_000);
    },
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}

/** The message as the model reads it; the person sees a card in its place. */
async function toContent(
  row: TimerRow,
  owner: Principal | undefined,
  { accounts }: Pick<TimerParts, "accounts">,
): Promise<string> {
  const zone = owner ? (await accounts.templateFacts(owner)).timeZone : "UTC";
  const now = seconds();
  const late = now - row.due_at >= lateAfter ? ` It was due at ${toIso(row.due_at, zone)} and is late.` : "";
  return [
    `[Message of the system, not of the user] The timer ${row.id} has fired, which you set at ${toIso(row.created_at, zone)}. It is ${toIso(now, zone)} now.${late}`,
    `Your note:\n${row.prompt}`,
  ].join("\n\n");
}
