import { limits } from "./limits.ts";
import type { Pool } from "./pool.ts";
import type { Realm } from "./realm.ts";
import { SandboxError, type StreamChain, type StreamLink } from "./sandbox.ts";
import { type Passenger, type Switchboard, switchboardOf } from "./switchboard.ts";

export interface StreamParts {
  readonly links: readonly StreamLink[];
  readonly realms: readonly Realm[];
  overran(realm: Realm, error: SandboxError, heldMs: number): void;
}

/**
 * The contexts of the links, all in one isolate. A hook that cannot be loaded is left out like one that fails later.
 */
export async function openLinks(
  pool: Pool,
  links: readonly StreamLink[],
): Promise<Pick<StreamParts, "links" | "realms">> {
  let left = [...links];
  for (;;) {
    const opened = await Promise.all(left.map((link) => openLink(pool, link)));
    left = left.filter((_, at) => opened[at] !== undefined);
    const realms = opened.filter((realm) => realm !== undefined);
    // An isolate may have been replaced while the last link was still loading.
    if (realms.every((realm) => realm.cell === realms[0]?.cell && !realm.isClosed)) {
      return { links: left, realms };
    }
  }
}

/**
 * Opens the hooks of a run as one chain: a batch crosses the border once, whatever the number of hooks. Everything here
 * runs on the event loop's own thread, at most `limits.streamMs` a crossing.
 */
export function openChain(parts: StreamParts): StreamChain {
  return new Chain(parts);
}

/** A hook with the link it belongs to. */
interface Hook {
  readonly link: StreamLink;
  readonly realm: Realm;
  isOut: boolean;
}

class Chain implements StreamChain, Passenger {
  readonly #parts: StreamParts;
  readonly #hooks: readonly Hook[];
  /** Undefined when no hook is left. */
  #board: Switchboard | undefined;
  #id = 0;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.#hooks = parts.realms.map((realm, at) => {
      realm.streams += 1;
      return { link: parts.links[at] as StreamLink, realm, isOut: false };
    });
    const first = this.#hooks[0];
    if (first) {
      try {
        const board = switchboardOf(first.realm.cell.isolate);
        this.#id = board.open(
          this.#hooks.map(({ realm, link }) => ({ realm, context: JSON.stringify(link.context ?? {}) })),
        );
        this.#board = board;
      } catch (error) {
        this.failAll(first.realm.toError(first.realm.cell.explain(error, first.realm)));
      }
    }
  }

  push(batch: string): Promise<string> {
    return this.#board?.push(this.#id, this, batch) ?? Promise.resolve(batch);
  }

  close(): void {
    this.#board?.close(this.#id);
    this.#board = undefined;
    for (const realm of this.#parts.realms) {
      realm.streams -= 1;
      realm.leave();
    }
  }

  told(failures: string): void {
    for (const failure of failures.split("\t")) {
      const split = failure.indexOf(":");
      const report = failure.slice(split + 1);
      const error = this.#hooks[Number(failure.slice(0, split))]?.realm.toReported("thrown", report);
      if (split > 0) {
        this.#fail(this.#hooks[Number(failure.slice(0, split))], error);
      } else {
        this.failAll(error ?? new SandboxError("thrown", "The stream hooks failed."));
      }
    }
  }

  broke(place: number, error: unknown, heldMs: number): void {
    const hook = this.#hooks[place] ?? this.#hooks[0];
    if (!hook || hook.isOut) {
      this.failAll(new SandboxError("timeout", "The stream hooks could not be stopped in time."));
      return;
    }
    const failure = hook.realm.toError(hook.realm.cell.explain(error, hook.realm));
    if (failure.kind !== "timeout" || hook.realm.cell.isGone) {
      this.failAll(failure);
      return;
    }
    const slow = new SandboxError("timeout", `The stream hook took more than ${limits.streamMs} ms.`);
    this.#fail(hook, slow);
    this.#parts.overran(hook.realm, slow, heldMs);
  }

  failAll(error: SandboxError): void {
    this.#board = undefined;
    for (const hook of this.#hooks) {
      this.#fail(hook, error);
    }
  }

  #fail(hook: Hook | undefined, error: SandboxError | undefined): void {
    if (hook && !hook.isOut) {
      hook.isOut = true;
      hook.link.failed(error ?? new SandboxError("thrown", "The stream hook failed."));
    }
  }
}

async function openLink(pool: Pool, link: StreamLink): Promise<Realm | undefined> {
  try {
    return await pool.realm(link.script, "streams");
  } catch (error) {
    link.failed(error instanceof SandboxError ? error : new Error("The function could not be loaded."));
    return undefined;
  }
}
