import type { Logger } from "#kernel/log.ts";
import { limits } from "../limits.ts";
import type { Pool } from "../host/pool.ts";
import type { Realm } from "../host/realm.ts";
import { SandboxError, type StreamChain, type StreamLink } from "#kernel/sandbox.ts";
import { requireDepth } from "../host/call-result.ts";
import { hasMoreValues } from "../hardening/size.ts";
import type { BatchListener } from "./crossing.ts";
import { multiplexerOf, type StreamMultiplexer } from "./stream-multiplexer.ts";

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

class Chain implements StreamChain, BatchListener {
  readonly #parts: StreamParts;
  readonly #hooks: readonly Hook[];
  #multiplexer: StreamMultiplexer | undefined;
  /** No hook is left. */
  #isOut = false;
  /** A batch that was too long has been logged. */
  #hasLogged = false;
  /** Characters of what hooks read of their contexts. */
  #given = 0;
  #run = 0;
  /** When the last batch came; the first one does not wait. */
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
        const multiplexer = multiplexerOf(first.realm.cell.isolate);
        this.#run = multiplexer.open(
          this.#hooks.map(({ realm, link: { shared, lazyMembers = {} } }) => ({
            realm,
            context: shared,
            lazyMembers: Object.keys(lazyMembers),
          })),
        );
        this.#multiplexer = multiplexer;
        for (const { realm, link } of this.#hooks) {
          realm.lazyMembers.set(this.#run, (name) => {
            const text = toReadable(link.lazyMembers?.[name]?.());
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

  push(chunks: readonly string[]): Promise<readonly string[]> {
    if (!this.#multiplexer || this.#isOut) {
      return Promise.resolve(chunks);
    }
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    if (length > limits.batchLength) {
      this.#logPassed(length);
      return Promise.resolve(chunks);
    }
    return this.#multiplexer.push(this.#run, this, chunks, this.#maxDelay()).then((texts) => {
      try {
        texts.forEach((text) => requireDepth(text, "What the stream hooks answer is"));
        return texts;
      } catch (error) {
        this.failAll(error as SandboxError);
        return chunks;
      }
    });
  }

  close(): void {
    this.#multiplexer?.close(this.#run);
    this.#multiplexer = undefined;
    const [first] = this.#parts.realms;
    if (first) {
      first.cell.given -= this.#given;
    }
    for (const realm of this.#parts.realms) {
      realm.streams -= 1;
      realm.lazyMembers.delete(this.#run);
      realm.leave();
    }
  }

  onHookErrors(failures: string): void {
    for (const failure of failures.split("	")) {
      const split = failure.indexOf(":");
      const hook = this.#hooks[Number(failure.slice(0, split))];
      this.#fail(hook, hook?.realm.toReported("thrown", failure.slice(split + 1)));
    }
  }

  onTimeout(place: number, error: unknown, heldMs: number): void {
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

  /** A stream whose batches are rare, as those of several tokens are, may wait longer: no reader notices. */
  #maxDelay(): number {
    const now = performance.now();
    const ms = (now - this.#pushedAt) / 2;
    this.#pushedAt = now;
    return Math.min(Math.max(ms, limits.streamEveryMs), limits.streamEveryMostMs);
  }

  /** Once a run: a filter that masks or refuses has not seen everything. */
  #logPassed(length: number): void {
    if (!this.#hasLogged) {
      this.#hasLogged = true;
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

/** The JSON of a member, unless it is so long that parsing it would hold the event loop up. */
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
