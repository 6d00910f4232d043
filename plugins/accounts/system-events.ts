import type { Actor, Events, Subject } from "#kernel/events.ts";
import type { SystemEventName } from "#kernel/system-event-names.ts";

/** Announces a system event of accounts and groups (appendix A10). */
export type Emit = (event: SystemEventName, data: Record<string, unknown>) => void;

/**
 * Announces system events: `by` in the data is who did it (else the account itself), `user_id` or `group_id` what it
 * is about.
 */
export function createEmit(events: Pick<Events, "announce">): Emit {
  return (event, data) => {
    // Null says that no account is behind it, as with an identity provider.
    const actorId = data["by"] === null ? null : (data["by"] ?? data["user_id"]);
    const actor: Actor | null = typeof actorId === "string" ? { id: actorId } : null;
    events.announce(event, { actor, subject: toSubject(data), data });
  };
}

function toSubject({ user_id: userId, group_id: groupId }: Record<string, unknown>): Subject | null {
  if (typeof groupId === "string") {
    return { type: "group", id: groupId };
  }
  return typeof userId === "string" ? { type: "user", id: userId } : null;
}
