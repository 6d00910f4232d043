/** A typed thing that exactly one enabled plugin (or the kernel) provides. The id names it in boot messages. */
export interface ServiceRef<T> {
  readonly kind: "service";
  readonly id: string;
  readonly phantom?: T;
}

/** A service that may be missing: what depends on it has to handle `undefined`. */
export interface OptionalRef<T> {
  readonly kind: "optional";
  readonly ref: ServiceRef<T>;
}

/** A typed list that many plugins add to; its owner reads it once all plugins are set up. */
export interface SlotRef<T> {
  readonly kind: "slot";
  readonly id: string;
  readonly phantom?: T;
}

/** A slot as its owner sees it. `list()` throws while plugins are still being set up. */
export interface Slot<T> {
  list(): readonly T[];
}

export interface Provided {
  readonly ref: ServiceRef<unknown>;
  readonly value: unknown;
}

export interface Filled {
  readonly slot: SlotRef<unknown>;
  readonly value: unknown;
}

/** Declares a service; the implementation is handed over with `provide`. */
export function defineService<T>(id: string): ServiceRef<T> {
  return { kind: "service", id };
}

/** Marks a dependency that may be missing. */
export function optional<T>(ref: ServiceRef<T>): OptionalRef<T> {
  return { kind: "optional", ref };
}

/** Declares a slot; others contribute to it with `fill`. */
export function defineSlot<T>(id: string): SlotRef<T> {
  return { kind: "slot", id };
}

/** Pairs a service with its implementation. */
export function provide<T>(ref: ServiceRef<T>, value: T): Provided {
  return { ref, value };
}

/** Adds one value to a slot. */
export function fill<T>(slot: SlotRef<T>, value: T): Filled {
  return { slot, value };
}
