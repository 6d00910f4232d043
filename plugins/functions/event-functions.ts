import type { Principal } from "#kernel/access/principal.ts";
import { type EventEnvelope, toEnvelope } from "#kernel/event-envelope.ts";
import type { SystemEvent } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Deployment } from "#kernel/services.ts";
import type { ActiveFunction, ActiveFunctions } from "./active.ts";
import type { Invoke } from "./invoke.ts";

export interface EventFunctionsParts {
  readonly active: ActiveFunctions;
  readonly invoke: Invoke;
  readonly deployment: Pick<Deployment, "instanceId" | "version" | "name">;
  readonly log: Logger;
  isEnabled(): boolean;
  /** The function though it is inactive; undefined when it is gone or does not load. */
  loadInactive(id: string): Promise<ActiveFunction | undefined>;
  principalOf(userId: string): Promise<Principal | undefined>;
}

/** Events that wait for one function; more than these are dropped, so that a slow one does not eat the memory. */
const maxWaiting = 200;

/**
 * Tells Event functions about system events of this process, fire and forget (contract 4.2): their failures are
 * logged. Host functions act as the person who caused the event, and for nobody when the server did.
 */
export function createEventFunctions(parts: EventFunctionsParts) {
  const { active, deployment, log } = parts;
  const waiting = new Map<string, number>();

  async function deliver(fn: ActiveFunction, event: EventEnvelope): Promise<void> {
    const count = waiting.get(fn.id) ?? 0;
    if (count >= maxWaiting) {
      log.warn({ function: fn.id, event: event.event }, "an event function is too slow; it misses an event");
      return;
    }
    waiting.set(fn.id, count + 1);
    try {
      await call(parts, fn, event);
    } catch (error) {
      log.warn({ err: error, function: fn.id, event: event.event }, "an event function failed");
    } finally {
      const left = (waiting.get(fn.id) ?? 1) - 1;
      if (left === 0) {
        waiting.delete(fn.id);
      } else {
        waiting.set(fn.id, left);
      }
    }
  }

  return async (event: SystemEvent): Promise<void> => {
    if (!parts.isEnabled()) {
      return;
    }
    const { ofType, byId } = active.now() ?? (await active.current());
    // It hears of its own switching on, although it is still off.
    const own = event.event === "function.enable_started" ? event.subject?.id : undefined;
    const starting = own !== undefined && !byId.has(own) ? await parts.loadInactive(own) : undefined;
    const told = starting?.facts.type === "event" ? [...ofType.event, starting] : ofType.event;
    if (told.length > 0) {
      const envelope = toEnvelope(event, deployment);
      await Promise.all(told.map((fn) => deliver(fn, envelope)));
    }
  };
}

/** `ctx` has `event_name`, `event_id` and `app` besides the rest; there are no user valves. */
async function call(
  { invoke, deployment, principalOf }: EventFunctionsParts,
  fn: ActiveFunction,
  event: EventEnvelope,
): Promise<void> {
  const principal = event.actor ? await principalOf(event.actor.id) : undefined;
  const { name, version, instanceId } = deployment;
  await invoke.call(fn, {
    name: "event",
    body: event,
    facts: { principal },
    extra: {
      event_name: event.event,
      event_id: event.id,
      app: { name, version, instance_id: instanceId },
      userValves: {},
    },
    signal: undefined,
  });
}
