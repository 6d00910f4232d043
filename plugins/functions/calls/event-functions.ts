import type { Principal } from "#kernel/access/principal.ts";
import type { SystemEvent } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Deployment } from "#kernel/services.ts";
import { type EventEnvelope, toEnvelope } from "#kernel/event-envelope.ts";
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
 * Tells Event functions about system events of this process, fire and forget (contract 4.2): each hears them one after
 * another in their order, and its failures are logged. Host functions act as the person who caused the event, and for
 * nobody when the server did.
 */
export function createEventFunctions(parts: EventFunctionsParts) {
  const { deployment, log } = parts;
  const queues = new Map<string, { count: number; last: Promise<void> }>();
  let turn: Promise<void> = Promise.resolve();

  function enqueue(fn: ActiveFunction, event: EventEnvelope): void {
    const queue = queues.get(fn.id) ?? { count: 0, last: Promise.resolve() };
    if (queue.count >= maxWaiting) {
      log.warn({ function: fn.id, event: event.event }, "an event function is too slow; it misses an event");
      return;
    }
    queues.set(fn.id, queue);
    queue.count += 1;
    queue.last = queue.last.then(async () => {
      try {
        await call(parts, fn, event);
      } catch (error) {
        log.warn({ err: error, function: fn.id, event: event.event }, "an event function failed");
      }
      queue.count -= 1;
      if (queue.count === 0) {
        queues.delete(fn.id);
      }
    });
  }

  async function dispatch(event: SystemEvent): Promise<void> {
    const told = await findListeners(parts, event);
    const envelope = toEnvelope(event, deployment);
    told.forEach((fn) => enqueue(fn, envelope));
  }

  return (event: SystemEvent): void => {
    if (parts.isEnabled()) {
      turn = turn.then(() =>
        dispatch(event).catch((error: unknown) =>
          log.warn({ err: error, event: event.event }, "event functions could not be told"),
        ),
      );
    }
  };
}

/** All active event functions, and the one that is about to be switched on: it hears of that although it is still off. */
async function findListeners(
  { active, loadInactive }: EventFunctionsParts,
  event: SystemEvent,
): Promise<readonly ActiveFunction[]> {
  const { ofType, byId } = active.now() ?? (await active.current());
  const own = event.event === "function.enable_started" ? event.subject?.id : undefined;
  const starting = own !== undefined && !byId.has(own) ? await loadInactive(own) : undefined;
  return starting?.facts.type === "event" ? [...ofType.event, starting] : ofType.event;
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
