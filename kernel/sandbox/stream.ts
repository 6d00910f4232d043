import type ivm from "isolated-vm";
import { limits } from "./limits.ts";
import type { Pool } from "./pool.ts";
import type { Realm } from "./realm.ts";
import { SandboxError, type StreamChain, type StreamLink } from "./sandbox.ts";

export interface StreamParts {
  readonly links: readonly StreamLink[];
  readonly realms: readonly Realm[];
  overran(realm: Realm, error: SandboxError): void;
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
 * runs on the event loop's own thread, at most `limits.streamMs` a batch and hook.
 */
export function openChain(parts: StreamParts): StreamChain {
  return new Chain(parts);
}

interface Ways {
  readonly push: ivm.Reference;
  readonly resume: ivm.Reference;
  readonly retry: ivm.Reference;
  readonly where: ivm.Reference;
}

/** A hook with the link it belongs to; `reference` is the function inside. */
interface Hook {
  readonly link: StreamLink;
  readonly realm: Realm;
  readonly reference: ivm.Reference;
  isOut: boolean;
}

const within = { timeout: limits.streamMs };

class Chain implements StreamChain {
  readonly #parts: StreamParts;
  readonly #hooks: Hook[] = [];
  #ways: Ways | undefined;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    for (const [at, realm] of parts.realms.entries()) {
      realm.streams += 1;
      const link = parts.links[at] as StreamLink;
      try {
        const reference = realm.hook(JSON.stringify(link.context ?? {}));
        this.#hooks.push({ link, realm, reference, isOut: false });
      } catch (error) {
        link.failed(realm.toError(error));
      }
    }
    const first = this.#hooks[0];
    if (first) {
      try {
        this.#ways = toWays(first.realm.chain(this.#hooks.map(({ reference }) => reference)));
      } catch (error) {
        this.#failAll(first.realm.toError(error));
      }
    }
  }

  push(batch: string): string {
    if (!this.#ways || this.#hooks.every(({ isOut }) => isOut)) {
      return batch;
    }
    const answer = this.#run(this.#ways, batch);
    if (answer.startsWith("[")) {
      return answer;
    }
    // A line of failures, `place:report` each, comes before the batch.
    const end = answer.indexOf("\n");
    for (const told of answer.slice(0, end).split("\t")) {
      const split = told.indexOf(":");
      const hook = this.#hooks[Number(told.slice(0, split))];
      this.#fail(hook, hook?.realm.toReported("thrown", told.slice(split + 1)));
    }
    return answer.slice(end + 1);
  }

  close(): void {
    const live = this.#hooks.filter(({ realm }) => !realm.cell.isGone);
    const ways = live.length > 0 ? Object.values(this.#ways ?? {}) : [];
    for (const reference of [...live.map(({ reference }) => reference), ...ways]) {
      reference.release();
    }
    this.#ways = undefined;
    for (const realm of this.#parts.realms) {
      realm.streams -= 1;
      realm.leave();
    }
  }

  /** Runs a batch; on an overrun that hook is out and the rest goes on with the last good value. */
  #run(ways: Ways, batch: string): string {
    const { isolate } = this.#parts.realms[0]!.cell;
    let way = ways.push;
    let args = [batch];
    let hasRetried = false;
    // Each round but one takes a hook out, so that this ends.
    for (;;) {
      const before = isolate.cpuTime;
      try {
        const answer: unknown = way.applySync(undefined, args, within);
        return typeof answer === "string" ? answer : batch;
      } catch (error) {
        args = [];
        // A busy machine took the time, not the hook.
        if (!hasRetried && isTimeout(error) && Number(isolate.cpuTime - before) < limits.streamMs * 5e5) {
          hasRetried = true;
          way = ways.retry;
          continue;
        }
        if (!this.#recover(error, ways)) {
          return batch;
        }
        way = ways.resume;
      }
    }
  }

  /** Takes the hook that overran out; false when nothing of the chain is left. */
  #recover(error: unknown, ways: Ways): boolean {
    const hook = this.#hooks[whereOf(ways)] ?? this.#hooks[0];
    if (!hook || hook.isOut) {
      this.#failAll(new SandboxError("timeout", "The stream hooks could not be stopped in time."));
      return false;
    }
    const failure = hook.realm.toError(hook.realm.cell.explain(error, hook.realm));
    if (failure.kind !== "timeout" || hook.realm.cell.isGone) {
      this.#failAll(failure);
      return false;
    }
    const slow = new SandboxError("timeout", `The stream hook took more than ${limits.streamMs} ms.`);
    this.#fail(hook, slow);
    this.#parts.overran(hook.realm, slow);
    return this.#hooks.some(({ isOut }) => !isOut);
  }

  #fail(hook: Hook | undefined, error: SandboxError | undefined): void {
    if (hook && !hook.isOut) {
      hook.isOut = true;
      hook.link.failed(error ?? new SandboxError("thrown", "The stream hook failed."));
    }
  }

  #failAll(error: SandboxError): void {
    this.#ways = undefined;
    for (const hook of this.#hooks) {
      this.#fail(hook, error);
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

function toWays(chain: ivm.Reference): Ways {
  const way = (name: string) => chain.getSync(name, { reference: true }) as ivm.Reference;
  const ways = { push: way("push"), resume: way("resume"), retry: way("retry"), where: way("where") };
  chain.release();
  return ways;
}

/** The place of the hook that ran when the time was over. */
function whereOf(ways: Ways): number {
  try {
    return Number(ways.where.applySync(undefined, [], within));
  } catch {
    return 0;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Script execution timed out.";
}
