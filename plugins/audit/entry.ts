/** Verbs of actions. The page of the audit log has a sentence for each, which the checker holds. */
export type AuditVerb =
  | "created"
  | "updated"
  | "access_updated"
  | "version_updated"
  | "deleted"
  | "enabled"
  | "disabled"
  | "imported"
  | "valves_updated"
  | "approved"
  | "declined"
  | "asked"
  | "started"
  | "downloaded"
  | "invited"
  | "added"
  | "removed"
  | "registered"
  | "member_added"
  | "member_removed"
  | "session_revoked"
  | "sessions_revoked"
  | "viewed"
  | "view_ended"
  | "reset"
  | "ordered"
  | "verified"
  | "run"
  | "undone"
  | "file_removed"
  | "index_reset"
  | "uploads_removed";

/** Fields that an action changed. */
export interface AuditObject {
  /** Kind of the object, such as "user", "group", "model", "function" or "setting". */
  readonly type: string;
  readonly id: string;
  /** Its name at that time, for people who read the record. */
  readonly name?: string | null;
}

/** An action to be recorded. Values are JSON; of two objects only the fields that differ are kept. */
export interface AuditEntry {
  /** Name with dots, such as "user.updated" (appendix A10 of the variables). */
  readonly action: `${string}.${AuditVerb}`;
  readonly object: AuditObject;
  /** The object before the action; left out when there was none. */
  readonly before?: unknown;
  /** The object after the action; left out when there is none. */
  readonly after?: unknown;
  /** Keeps fields that are alike, too. */
  readonly whole?: boolean;
  /** The account behind it; left out, the caller of the request that runs. */
  readonly by?: string | null;
  /** The name of an author without an account, such as the identity provider behind SCIM. */
  readonly actorName?: string;
}

/** A kept record. */
export interface AuditRecord {
  readonly id: number;
  /** Epoch seconds. */
  readonly created_at: number;
  /** Null for the server itself. */
  readonly actor_id: string | null;
  readonly actor_name: string | null;
  readonly actor_role: string | null;
  readonly action: string;
  readonly object_type: string;
  readonly object_id: string;
  readonly object_name: string | null;
  readonly before: unknown;
  readonly after: unknown;
  /** False when a secret is masked in it or a long text was shortened. */
  readonly complete: boolean;
  readonly address: string | null;
  readonly client: string | null;
  readonly request_id: string | null;
}
