import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { ChatContext, Chats } from "#plugins/chats/service.ts";
import type { ChatRuns } from "#plugins/completions/service.ts";
import type { RunControl } from "#plugins/runs/service.ts";
import { toRecord } from "./record.ts";
import type { SubagentDatabase, SubagentRow, Transact } from "./tables.ts";

/** Live settings of sub-agents. */
export interface SubagentSettings {
  readonly enabled: boolean;
  readonly backgroundEnabled: boolean;
  readonly maxConcurrent: number;
  readonly maxAsync: number;
  readonly maxIterations: number;
  readonly maxOutput: number;
  readonly systemPrompt: string;
}

/** The services that sub-agents are made with. */
export interface SubagentParts {
  readonly db: SubagentDatabase;
  readonly transaction: Transact;
  readonly log: Logger;
  readonly accounts: Accounts;
  readonly chats: Chats;
  readonly context: ChatContext;
  readonly control: RunControl;
  readonly events: Events;
  readonly hub: Hub;
  readonly runs: Slot<ChatRuns>;
  /** This process; a new one after every start. */
  readonly owner: string;
  settings(): SubagentSettings;
}

/** Shows the state of a sub-agent in the open windows of its owner. */
export function show(row: SubagentRow, { hub }: Pick<SubagentParts, "hub">): void {
  const envelope = toEnvelope({ type: "chat:subagent", data: toRecord(row) }, { chatId: row.chat_id });
  hub.emit(toRoom("user", row.user_id), "events", envelope);
}
