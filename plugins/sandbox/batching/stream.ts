import type { Logger } from "#kernel/log.ts";
import { limits } from "../limits.ts";
import type { Pool } from "../host/pool.ts";
import type { Realm } from "../host/realm.ts";
import { SandboxError, type StreamChain, type StreamLink } from "#kernel/sandbox.ts";
import { hasMoreValues } from "../hardening/size.ts";
import { type Passenger, type Switchboard, switchboardOf } from "./switchboard.ts";

export interface StreamParts {
  readonly links: readonly StreamLink[];
  readonly realms: readonly Realm[];
  readonly log: Logger;
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
  #board: Switchboard | undefined;
  /** No hook is left. */
  #isOut = false;
  /** A batch that was too long has been told of. */
  #isTold = false;
  /** Characters of what hooks read of their contexts. */
  #given = 0;
  #id = 0;
  /** When the last batch came; the first is what its reader waits for most. */
  #pushedAt = Number.POSITIVE_INFINITY;

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
          this.#hooks.map(({ realm, link: { shared, later = {} } }) => ({
            realm,
            context: shared,
            later: Object.keys(later),
          })),
        );
        this.#board = board;
        for (const { realm, link } of this.#hooks) {
          realm.laters.set(this.#id, (name) => {
            const text = toReadable(link.later?.[name]?.());
            this.#given += text?.length ?? 0;
            realm.cell.given += text?.length ?? 0;
            return text;
          });
        }
      } catch (error) {
        this.failAll(first.realm.toError(first.realm.cell.explain(error, first.realm)));
      }
    }
  }

  push(batch: string): Promise<string> {
    if (!this.#board || this.#isOut) {
      return Promise.resolve(batch);
    }
    if (batch.length > limits.batchLength) {
      this.#tellPassed(batch.length);
      return Promise.resolve(batch);
    }
    return this.#board.push(this.#id, this, batch, this.#patience());
  }

  close(): void {
    this.#board?.close(this.#id);
    this.#board = undefined;
    const [first] = this.#parts.realms;
    if (first) {
      first.cell.given -= this.#given;
    }
    for (const realm of this.#parts.realms) {
      realm.streams -= 1;
      realm.laters.delete(this.#id);
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
    const hook = this.#hooks[place];
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
    this.#isOut = true;
    for (const hook of this.#hooks) {
      this.#fail(hook, error);
    }
  }

  /** Whom batches reach seldom, as those of several tokens do, does not notice a longer wait. */
  #patience(): number {
    const now = performance.now();
    const ms = (now - this.#pushedAt) / 2;
    this.#pushedAt = now;
    return Math.min(Math.max(ms, limits.streamEveryMs), limits.streamEveryMostMs);
  }

  /** Once a run: a filter that masks or refuses has not seen everything. */
  #tellPassed(length: number): void {
    if (!this.#isTold) {
      this.#isTold = true;
      const functions = this.#hooks.filter(({ isOut }) => !isOut).map(({ link }) => link.script.id);
      this.#parts.log.warn(
        { functions, length },
        "a batch was too long for the stream hooks and passed them by",
      );
    }
  }

  #fail(hook: Hook | undefined, error: SandboxError | undefined): void {
    if (hook && !hook.isOut) {
      hook.isOut = true;
      hook.link.failed(error ?? new SandboxError("thrown", "The stream hook failed."));
    }
  }
}

/** What a hook may read of its context: parsing the rest would hold everybody up, and be laid to the hook. */
function toReadable(text: string | undefined): string | undefined {
  const { contextLength, contextValues } = limits;
  return text === undefined || text.length > contextLength || hasMoreValues(text, contextValues)
    ? undefined
    : text;
}

async function openLink(pool: Pool, link: StreamLink): Promise<Realm | undefined> {
  try {
    return await pool.realm(link.script, "streams");
  } catch (error) {
    link.failed(error instanceof SandboxError ? error : new Error("The function could not be loaded."));
    return undefined;
  }
}
