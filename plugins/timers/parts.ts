import type { Loader } from "#kernel/access/resource.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { ChatContinuation } from "#plugins/subagents/service.ts";
import { toRecord } from "./record.ts";
import type { TimerRow } from "./tables.ts";
import type { TimerStore } from "./timer-store.ts";

/** The services that timers are made with. */
export interface TimerParts {
  readonly log: Logger;
  readonly accounts: Accounts;
  readonly chats: Chats;
  readonly continuation: ChatContinuation;
  readonly events: Events;
  readonly hub: Hub;
  /** For owners alone; administrators get `not_found` too. */
  readonly loader: Loader<TimerRow>;
  readonly store: TimerStore;
}

/** Shows the state of timers in the open windows of their owner. */
export function show(rows: readonly TimerRow[], { hub }: Pick<TimerParts, "hub">): void {
  for (const row of rows) {
    const envelope = toEnvelope({ type: "chat:timer", data: toRecord(row) }, { chatId: row.chat_id });
    hub.emit(toRoom("user", row.user_id), "events", envelope);
  }
}
