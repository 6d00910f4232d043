import { LruMap } from "./lru.ts";
import { Cell, type Lane } from "./cell.ts";
import { limits } from "./limits.ts";
import { Realm, type RealmOptions } from "./realm.ts";
import { SandboxError, type Script } from "./sandbox.ts";
import { requireSize, same, toKey } from "./source.ts";
import type { Code, Stripper } from "./typescript.ts";

export interface PoolOptions {
  readonly stripper: Stripper;
  /** Megabytes that idle isolates may hold together. */
  budgetMegabytes(): number;
  log(id: string, level: string, text: string): void;
  onGone(cell: Cell, culprit: Realm | undefined, reason: string): void;
}

/** Isolates by owner and lane, contexts by script and source; what was unused longest goes when there is too much. */
export interface Pool {
  /** The context of a script, opened when there is none. Throws SandboxError when its source does not load. */
  realm(script: Script, lane: Lane): Promise<Realm>;
  forget(id: string): void;
  /** Drops idle isolates until the rest fits the budget. */
  trim(): Promise<void>;
  /** For tests and figures. */
  cells(): readonly Cell[];
  close(): void;
}

export function createPool(options: PoolOptions): Pool {
  const cells = new Map<string, Cell>();
  /** Isolates that are being replaced; they end with their last call. */
  const leaving = new Set<Cell>();
  const opening = new Map<string, Promise<Realm>>();
  // What the compiler made of a TypeScript source, so that it works once a source and not once a context.
  const stripped = new LruMap<string, Code>(256);

  const cellOf = (owner: string, lane: Lane): Cell => {
    const name = `${lane} ${owner}`;
    const found = cells.get(name);
    if (found && !found.isGone && found.dropped < limits.droppedContexts) {
      return found;
    }
    if (found && !found.isGone) {
      leaving.add(found);
      sweep();
    }
    const cell = new Cell(owner, lane, options.onGone);
    cells.set(name, cell);
    return cell;
  };

  const sweep = () => {
    for (const cell of leaving) {
      if (cell.isIdle()) {
        leaving.delete(cell);
        cell.dispose();
      }
    }
  };

  async function open(script: Script, key: string, lane: Lane): Promise<Realm> {
    const cell = cellOf(script.owner, lane);
    const log = (level: string, text: string) => options.log(script.id, level, text);
    const realm = await compile({ cell, script, key, log });
    if (cell.isGone) {
      throw new SandboxError("memory", "The code was stopped while it was loaded.");
    }
    cell.realms.get(script.id)?.retire();
    cell.realms.set(script.id, realm);
    dropUnused(cell);
    void trim();
    return realm;
  }

  /** Most sources are JavaScript, which is tried first: the isolate's compiler is the faster one. */
  async function compile(parts: Omit<RealmOptions, "compiled">): Promise<Realm> {
    const { source } = parts.script;
    const known = stripped.get(parts.key);
    try {
      return await Realm.open({ ...parts, compiled: known ?? { code: source, positions: same } });
    } catch (error) {
      if (known || !(error instanceof SandboxError) || error.kind !== "syntax" || parts.cell.isGone) {
        throw error;
      }
      const compiled = await toJavaScript(source, error);
      stripped.set(parts.key, compiled);
      return Realm.open({ ...parts, compiled });
    }
  }

  /** When it is no TypeScript either, that compiler's words count for TypeScript and the isolate's for the rest. */
  async function toJavaScript(source: string, first: SandboxError): Promise<Code> {
    const compiled = await options.stripper.strip(source);
    if (compiled.code === source) {
      throw first;
    }
    return compiled;
  }

  async function trim(): Promise<void> {
    sweep();
    await Promise.all([...cells.values()].map((cell) => cell.measure()));
    const idle = [...cells].toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    let bytes = idle.reduce((sum, [, cell]) => sum + cell.bytes, 0);
    for (const [name, cell] of idle) {
      if (bytes <= options.budgetMegabytes() * 2 ** 20) {
        return;
      }
      if (cell.isIdle() && !opening.has(name)) {
        bytes -= cell.bytes;
        cells.delete(name);
        cell.dispose();
      }
    }
  }

  return {
    async realm(script, lane) {
      requireSize(script.source);
      const key = toKey(script.source);
      const found = cells.get(`${lane} ${script.owner}`);
      const realm = found?.realms.get(script.id);
      if (realm?.key === key && !realm.isClosed) {
        return realm;
      }
      const name = JSON.stringify([lane, script.owner, script.id, key]);
      let pending = opening.get(name);
      if (!pending) {
        pending = open(script, key, lane).finally(() => opening.delete(name));
        opening.set(name, pending);
      }
      return pending;
    },

    forget(id) {
      for (const [name, cell] of cells) {
        cell.realms.get(id)?.retire();
        if (cell.realms.size === 0 && cell.isIdle() && opening.size === 0) {
          cells.delete(name);
          cell.dispose();
        }
      }
      sweep();
    },

    trim,
    cells: () => [...cells.values()],

    close() {
      for (const cell of [...cells.values(), ...leaving]) {
        cell.dispose();
      }
      cells.clear();
      leaving.clear();
    },
  };
}

/** Keeps the contexts of an isolate at their limit. */
function dropUnused(cell: Cell): void {
  const idle = [...cell.realms.values()]
    .filter((realm) => realm.isIdle())
    .toSorted((a, b) => a.usedAt - b.usedAt);
  for (const realm of idle.slice(0, Math.max(0, cell.realms.size - limits.contexts))) {
    realm.retire();
  }
}
