import { LruMap } from "./lru.ts";
import type { Lane } from "./bridge-functions.ts";
import { Cell } from "./cell.ts";
import { limits } from "../limits.ts";
import { Realm, type RealmOptions } from "./realm.ts";
import { SandboxError, type Script } from "#kernel/sandbox.ts";
import { keyOf, same } from "./source.ts";
import { createWarmIsolates } from "./warm-isolates.ts";
import type { Code, Stripper } from "./typescript.ts";

export interface PoolOptions {
  readonly stripper: Stripper;
  /** Megabytes that idle isolates may hold together. */
  budgetMegabytes(): number;
  log(id: string, level: string, text: string): void;
  onGone(cell: Cell<Realm>, culprit: Realm | undefined, reason: string): void;
}

/** Isolates by owner and lane, contexts by script and source; what was unused longest goes when there is too much. */
export interface Pool {
  /** The context of a script when it is open. Throws SandboxError when the source is too long. */
  find(script: Script, lane: Lane): Realm | undefined;
  /** The context of a script, opened when there is none. Throws SandboxError when its source does not load. */
  realm(script: Script, lane: Lane): Promise<Realm>;
  forget(id: string): void;
  /** Drops idle isolates until the rest fits the budget. */
  trim(): Promise<void>;
  /** For tests and figures. */
  cells(): readonly Cell<Realm>[];
  /** Isolates that wait for their owner. */
  warm(): number;
  close(): void;
}

/** Opens an empty pool. */
export function createPool(options: PoolOptions): Pool {
  return new IsolatePool(options);
}

class IsolatePool implements Pool {
  readonly #options: PoolOptions;
  readonly #cells: Readonly<Record<Lane, Map<string, Cell<Realm>>>> = {
    calls: new Map(),
    streams: new Map(),
  };
  /** Isolates that are being replaced; they end with their last call. */
  readonly #leaving = new Set<Cell<Realm>>();
  readonly #opening = new Map<string, Promise<Realm>>();
  readonly #warm = createWarmIsolates();
  // Stripped TypeScript sources: the compiler works once a source and not once a context.
  readonly #stripped = new LruMap<string, Code>(256);

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  find(script: Script, lane: Lane): Realm | undefined {
    const cell = this.#cells[lane].get(script.owner);
    const realm = cell?.isHeld ? undefined : cell?.realms.get(script.id);
    return realm?.key === keyOf(script) && !realm.isClosed ? realm : undefined;
  }

  async realm(script: Script, lane: Lane): Promise<Realm> {
    const key = keyOf(script);
    const found = this.find(script, lane);
    if (found) {
      return found;
    }
    const name = JSON.stringify([lane, script.owner, script.id, key]);
    let opening = this.#opening.get(name);
    if (!opening) {
      opening = this.#open(script, key, lane).finally(() => this.#opening.delete(name));
      this.#opening.set(name, opening);
    }
    return opening;
  }

  forget(id: string): void {
    for (const cell of this.#served()) {
      cell.realms.get(id)?.retire();
      if (cell.realms.size === 0 && cell.isIdle()) {
        this.#drop(cell);
      }
    }
    this.#sweep();
  }

  async trim(): Promise<void> {
    this.#sweep();
    await Promise.all(this.cells().map((cell) => cell.measure()));
    const cells = this.#served().toSorted((a, b) => a.usedAt - b.usedAt);
    const budget = this.#options.budgetMegabytes() * 2 ** 20;
    const waiting = this.#warm.count() * limits.freshBytes;
    let bytes = cells.reduce((sum, cell) => sum + cell.bytes, waiting);
    for (const cell of cells) {
      if (bytes > budget && cell.isIdle()) {
        bytes -= cell.bytes;
        this.#drop(cell);
      }
    }
  }

  cells(): readonly Cell<Realm>[] {
    return [...this.#served(), ...this.#leaving];
  }

  warm(): number {
    return this.#warm.count();
  }

  close(): void {
    this.#warm.close();
    for (const cell of this.cells()) {
      cell.dispose();
    }
    this.#cells.calls.clear();
    this.#cells.streams.clear();
    this.#leaving.clear();
  }

  /** Isolates that new calls go to. */
  #served(): Cell<Realm>[] {
    return [...this.#cells.calls.values(), ...this.#cells.streams.values()];
  }

  #drop(cell: Cell<Realm>): void {
    this.#cells[cell.lane].delete(cell.owner);
    cell.dispose();
  }

  async #open(script: Script, key: string, lane: Lane): Promise<Realm> {
    const cell = this.#cellOf(script.owner, lane);
    const log = (level: string, text: string) => this.#options.log(script.id, level, text);
    cell.opening += 1;
    try {
      const realm = await this.#compile({ cell, script, key, log });
      cell.realms.get(script.id)?.retire();
      cell.realms.set(script.id, realm);
      dropUnused(cell);
      return realm;
    } finally {
      cell.opening -= 1;
      this.#warm.prepare(lane);
      void this.trim();
    }
  }

  /** Most sources are JavaScript, which is tried first: the isolate's compiler is the faster one. */
  async #compile(parts: Omit<RealmOptions, "compiled">): Promise<Realm> {
    const { source } = parts.script;
    const known = this.#stripped.get(parts.key);
    try {
      return await Realm.open({ ...parts, compiled: known ?? { code: source, positions: same } });
    } catch (error) {
      if (known || !(error instanceof SandboxError) || error.kind !== "syntax" || parts.cell.isGone) {
        throw error;
      }
      const compiled = await this.#options.stripper.strip(source);
      // Without any type in it the isolate's own words were the right ones.
      if (compiled.code === source) {
        throw error;
      }
      this.#stripped.set(parts.key, compiled);
      return Realm.open({ ...parts, compiled });
    }
  }

  #cellOf(owner: string, lane: Lane): Cell<Realm> {
    const found = this.#cells[lane].get(owner);
    if (found && !found.isGone && !found.isHeld && found.dropped < limits.droppedContexts) {
      return found;
    }
    if (found && !found.isGone) {
      this.#leaving.add(found);
    }
    const cell = new Cell<Realm>({ owner, lane }, this.#options.onGone, this.#warm.take(lane));
    this.#cells[lane].set(owner, cell);
    this.#sweep();
    return cell;
  }

  #sweep(): void {
    for (const cell of this.#leaving) {
      if (cell.isIdle()) {
        this.#leaving.delete(cell);
        cell.dispose();
      }
    }
  }
}

/** Keeps the contexts of an isolate at their limit. */
function dropUnused(cell: Cell<Realm>): void {
  const idle = [...cell.realms.values()]
    .filter((realm) => realm.isIdle())
    .toSorted((a, b) => a.usedAt - b.usedAt);
  for (const realm of idle.slice(0, Math.max(0, cell.realms.size - limits.contexts))) {
    realm.retire();
  }
}
