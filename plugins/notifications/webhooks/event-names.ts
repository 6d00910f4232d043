/** Names of appendix A10 by their resource; a space stands between operations. */
const operations: Readonly<Record<string, string>> = {
  auth: "signup login logout password_changed api_key.created api_key.deleted oauth_session.deleted",
  "auth.mfa":
    "enabled disabled challenge.started challenge.verified challenge.failed factor.reset recovery_codes.regenerated recovery_code.used",
  user: "created updated deleted role_updated permissions_updated profile_updated settings_updated status_updated",
  group: "created updated deleted member_added member_removed",
  chat: "created updated deleted deleted_all cloned imported archived unarchived pinned unpinned shared unshared folder_updated tag_added tag_removed compacted finished failed",
  message: "created updated deleted pinned unpinned reaction_added reaction_removed event_received",
  model:
    "created updated deleted enabled disabled imported synced access_updated provider_config.updated provider_model.created provider_model.deleted provider_request.failed",
  prompt: "created updated deleted enabled disabled access_updated version_updated",
  tool: "created updated deleted access_updated valves_updated",
  skill: "created updated deleted enabled disabled",
  function: "created updated deleted enabled disabled enable_started disable_started valves_updated",
  knowledge:
    "created updated deleted reset reindexed access_updated file.added file.updated file.removed file.moved directory.created directory.updated directory.deleted external_connection.created external_connection.updated external_connection.deleted",
  file: "uploaded renamed content_updated deleted deleted_all",
  folder: "created updated deleted parent_updated access_updated",
  channel:
    "created updated deleted message member_added member_removed member_active_updated webhook.created webhook.updated webhook.deleted",
  note: "created updated deleted pinned unpinned access_updated",
  memory: "created updated deleted reset",
  calendar:
    "created updated deleted default_updated alert event.created event.updated event.deleted event.rsvp_updated",
  automation: "created updated deleted enabled disabled run_started run_completed run_failed",
  feedback: "created updated deleted deleted_all",
  image: "generated edited",
  audio: "speech_requested transcription_requested",
  retrieval: "content.processed collection.deleted vector_db.reset uploads.reset",
  pipeline: "uploaded added deleted valves_updated",
  terminal: "session.opened session.closed",
  config:
    "updated imported connections.updated models.updated tool_servers.updated terminal_servers.updated code_execution.updated suggestions.updated banners.updated webhook.updated",
  notification: "manual test",
  system: "startup.started startup.completed shutdown.started shutdown.completed",
};

/** Every system event that the platform names (appendix A10), in the order of the appendix. */
export const eventNames: readonly string[] = Object.entries(operations).flatMap(([resource, names]) =>
  names.split(" ").map((name) => `${resource}.${name}`),
);

/** One entry of the catalogue. */
export interface CatalogueEntry {
  readonly event: string;
  readonly resource: string;
  readonly operation: string;
}

export const eventCatalogue: readonly CatalogueEntry[] = eventNames.map((event) => {
  const dot = event.lastIndexOf(".");
  return { event, resource: event.slice(0, dot), operation: event.slice(dot + 1) };
});

/** True when a pattern (`*`, a name, or a name's beginning with `.*`) takes an event. */
export function matchesPattern(pattern: string, event: string): boolean {
  return (
    pattern === "*" || pattern === event || (pattern.endsWith(".*") && event.startsWith(pattern.slice(0, -1)))
  );
}

/** True for a pattern that takes at least one event of the catalogue: a typing mistake would be silent otherwise. */
export function isKnownPattern(pattern: string): boolean {
  return eventNames.some((event) => matchesPattern(pattern, event));
}
