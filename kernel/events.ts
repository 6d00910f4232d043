import { randomUUID } from "node:crypto";
import { AsyncLocalStorage } from "node:async_hooks";
import { seconds } from "#storage/clock.ts";
import { type Logger, redactData } from "./log.ts";
import type { SystemEventName } from "./system-event-names.ts";

/** The envelope of everything that webhooks and Event functions are told about. */
export interface SystemEvent {
  readonly id: string;
  /** Name with dots, such as "chat.created" (appendix A10 of the variables). */
  readonly event: string;
  /** Epoch seconds. */
  readonly created_at: number;
  /** The account behind it; null for the server itself. */
  readonly actor: Actor | null;
  readonly subject: Subject | null;
  /** Secrets in it are masked. */
  readonly data: unknown;
}

export interface Actor {
  readonly id: string;
  readonly name?: string;
  readonly email?: string;
  readonly role?: string;
}

/** The row that an event is about. */
export interface Subject {
  readonly type: string;
  readonly id: string;
}

declare const payload: unique symbol;

/** A name with a colon that carries a `T`, such as "config:changed"; it stays inside the process. */
export type EventName<T> = string & { readonly [payload]: T };

/** Names with a dot carry a SystemEvent, declared names what they declare, others something unknown. */
export type EventData<N extends string> =
  N extends EventName<infer T> ? T : N extends `${string}.${string}` ? SystemEvent : unknown;

export type EventHandler<T> = (data: T) => void | Promise<void>;

/** Announcements inside this process. */
export interface Events {
  /** Tells every handler of `name`. Nothing is waited for; emit after the transaction has committed. */
  emit<N extends string>(name: N, data: EventData<N>): void;
  /** Wraps the facts in a SystemEvent, masks secrets in its data, and emits it. */
  announce(
    event: SystemEventName,
    facts: { actor: Actor | null; subject: Subject | null; data?: unknown },
  ): SystemEvent;
  /** Adds a handler and returns what removes it. */
  on<N extends string>(name: N, handler: EventHandler<EventData<N>>): () => void;
  /** Adds a handler for every SystemEvent and returns what removes it. */
  onSystemEvent(handler: EventHandler<SystemEvent>): () => void;
}

/** Declares a name together with what it carries. */
export function defineEvent<T>(name: `${string}:${string}`): EventName<T> {
  return name as unknown as EventName<T>;
}

/** Creates the announcements of one process. A handler that fails is logged; neither emitter nor others notice. */
export function createEvents(log: Logger): Events {
  const handlers = new Map<string, Set<EventHandler<unknown>>>();

  const add = (name: string, handler: EventHandler<never>): (() => void) => {
    // A handler runs in its subscriber's context, never in the emitter's transaction or request.
    const outside = AsyncLocalStorage.snapshot();
    const entry: EventHandler<unknown> = (data) => outside(handler as EventHandler<unknown>, data);
    const entries = handlers.get(name) ?? new Set();
    handlers.set(name, entries.add(entry));
    return () => {
      entries.delete(entry);
      if (entries.size === 0 && handlers.get(name) === entries) {
        handlers.delete(name);
      }
    };
  };

  const tell = (list: string, name: string, data: unknown) => {
    // A copy: a handler may remove itself or add others.
    for (const handler of Array.from(handlers.get(list) ?? [])) {
      run(handler, data, (error) => log.error({ err: error, event: name }, "an event handler failed"));
    }
  };

  const emit = (name: string, data: unknown) => {
    tell(name, name, data);
    if (name.includes(".")) {
      tell(everySystemEvent, name, data);
    }
  };

  return {
    emit,
    announce(event, { actor, subject, data }) {
      const envelope = {
        id: randomUUID(),
        event,
        created_at: seconds(),
        actor,
        subject,
        data: redactData(data ?? null),
      };
      emit(event, envelope);
      return envelope;
    },
    on: (name, handler) => add(name, handler),
    onSystemEvent: (handler) => add(everySystemEvent, handler),
  };
}

const everySystemEvent = "*";

/** A handler that throws at once and one that rejects later look the same; one that does neither costs no promise. */
function run(handler: EventHandler<unknown>, data: unknown, failed: (error: unknown) => void): void {
  try {
    const running: unknown = handler(data);
    if (running instanceof Promise) {
      running.catch(failed);
    }
  } catch (error) {
    failed(error);
  }
}
