import type { Actor, Events, Subject } from "#kernel/events.ts";

/** Names without their dots' meaning: what this plugin's parts say when something happened (appendix A10). */
export type Emit = (event: string, data: Record<string, unknown>) => void;

/**
 * Announces system events: `by` in the data is who did it (else the account itself), `user_id` or `group_id` what it
 * is about.
 */
export function createEmit(events: Pick<Events, "announce">): Emit {
  return (event, data) => {
    // Null says that no account is behind it, as with an identity provider.
    const actorId = data["by"] === null ? null : (data["by"] ?? data["user_id"]);
    const actor: Actor | null = typeof actorId === "string" ? { id: actorId } : null;
    events.announce(event as `${string}.${string}`, { actor, subject: toSubject(data), data });
  };
}

function toSubject({ user_id: userId, group_id: groupId }: Record<string, unknown>): Subject | null {
  if (typeof groupId === "string") {
    return { type: "group", id: groupId };
  }
  return typeof userId === "string" ? { type: "user", id: userId } : null;
}
