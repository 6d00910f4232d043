import type { SystemEvent } from "#kernel/events.ts";
import type { SubagentParts } from "./parts.ts";
import type { Rows } from "./rows.ts";

/** Sub-agents go with the chat that asked them, and their chats with them. */
export function forgetChats({ accounts, chats, control, events, log }: SubagentParts, rows: Rows): void {
  events.on("chat.deleted", async ({ actor, subject }: SystemEvent) => {
    const ids = subject ? await rows.forgetChat(subject.id) : [];
    const owner = ids.length > 0 && actor ? await accounts.principalOf(actor.id) : undefined;
    if (owner === undefined) {
      return;
    }
    for (const id of ids) {
      await control
        .stopChat(owner, id)
        .catch((error: unknown) => log.debug({ err: error, subagent: id }, "nothing to stop"));
      await chats.discard(owner, id);
    }
  });
  events.on("chat.deleted_all", async ({ actor }: SystemEvent) => {
    if (actor) {
      await rows.forgetUser(actor.id);
    }
  });
}
