import type { SystemEvent } from "./events.ts";

/** What webhooks and Event functions get of a system event (contract 9). */
export interface EventEnvelope {
  readonly schema: "event.v1";
  readonly id: string;
  /** Name with dots, such as `knowledge.file.added`. */
  readonly event: string;
  /** The name without its last part. */
  readonly resource: string;
  /** The last part of the name. */
  readonly operation: string;
  /** Epoch seconds. */
  readonly created_at: number;
  readonly instance_id: string;
  readonly version: string;
  /** Name of the service. */
  readonly source: string;
  readonly actor: SystemEvent["actor"];
  readonly subject: SystemEvent["subject"];
  readonly data: unknown;
  /** One line for people. */
  readonly message: string;
}

/** Puts a system event into its envelope. */
export function toEnvelope(
  event: SystemEvent,
  { instanceId, version, name }: { instanceId: string; version: string; name: string },
): EventEnvelope {
  const dot = event.event.lastIndexOf(".");
  return {
    schema: "event.v1",
    id: event.id,
    event: event.event,
    resource: event.event.slice(0, dot),
    operation: event.event.slice(dot + 1),
    created_at: event.created_at,
    instance_id: instanceId,
    version,
    source: name,
    actor: event.actor,
    subject: event.subject,
    data: event.data,
    message: toMessage(event),
  };
}

function toMessage({ event, actor, subject }: SystemEvent): string {
  const about = subject === null ? "" : `: ${subject.type} ${subject.id}`;
  const by = actor === null ? "" : ` by ${actor.name ?? actor.email ?? actor.id}`;
  return `${event}${about}${by}`;
}
