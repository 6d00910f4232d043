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

interface Ways {
  readonly push: ivm.Reference;
  readonly resume: ivm.Reference;
  readonly where: ivm.Reference;
}

const within = { timeout: limits.streamMs };

/**
 * Opens the hooks of a run as one chain: a batch crosses the border once, whatever the number of hooks. Everything here
 * runs on the event loop's own thread, at most `limits.streamMs` a batch and hook.
 */
export function openChain({ links, realms, overran }: StreamParts): StreamChain {
  const open = new Set(links.keys());
  let ways: Ways | undefined;

  const fail = (at: number, error: SandboxError) => {
    if (open.delete(at)) {
      links[at]?.failed(error);
    }
  };
  const failAll = (error: SandboxError) => {
    ways = undefined;
    for (const at of [...open]) {
      fail(at, error);
    }
  };

  const hooks = new Map<number, ivm.Reference>();
  for (const [at, realm] of realms.entries()) {
    realm.streams += 1;
    try {
      hooks.set(at, realm.hook(JSON.stringify(links[at]?.context ?? {})));
    } catch (error) {
      fail(at, realm.toError(error));
    }
  }
  // The chain counts the hooks that opened; their place among the links is this list's.
  const places = [...hooks.keys()];
  const first = realms[places[0] ?? -1];
  if (first) {
    try {
      ways = toWays(first.chain([...hooks.values()]));
    } catch (error) {
      failAll(first.toError(error));
    }
  }
  const placeOf = (at: number) => places[at] ?? 0;

  /** Runs one way in; on an overrun that hook is out and the rest goes on with the last good value. */
  function run(batch: string): string {
    let answer: unknown;
    let way = ways?.push;
    for (let tries = 0; way && ways && tries <= links.length; tries++) {
      try {
        answer = way.applySync(undefined, way === ways.push ? [batch] : [], within);
        return typeof answer === "string" ? answer : batch;
      } catch (error) {
        const at = placeOf(whereOf(ways));
        const realm = realms[at] as Realm;
        const failure = realm.toError(realm.cell.explain(error, realm));
        if (failure.kind !== "timeout" || realm.cell.isGone) {
          failAll(failure);
          return batch;
        }
        const slow = new SandboxError("timeout", `The stream hook took more than ${limits.streamMs} ms.`);
        fail(at, slow);
        overran(realm, slow);
        way = ways?.resume;
      }
    }
    return batch;
  }

  return {
    push(batch) {
      if (!ways || open.size === 0) {
        return batch;
      }
      const answer = run(batch);
      const end = answer.startsWith("[") ? -1 : answer.indexOf("\n");
      if (end >= 0) {
        for (const told of answer.slice(0, end).split("\t")) {
          const split = told.indexOf(":");
          const at = placeOf(Number(told.slice(0, split)));
          fail(at, (realms[at] as Realm).toReported("thrown", told.slice(split + 1)));
        }
      }
      return answer.slice(end + 1);
    },
    close() {
      const isLive = realms.some((realm) => !realm.cell.isGone);
      for (const reference of isLive ? [...hooks.values(), ...Object.values(ways ?? {})] : []) {
        reference.release();
      }
      ways = undefined;
      open.clear();
      for (const realm of realms) {
        realm.streams -= 1;
        realm.leave();
      }
    },
  };
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
  const ways = { push: way("push"), resume: way("resume"), where: way("where") };
  chain.release();
  return ways;
}

/** The hook that ran when the time was over. */
function whereOf(ways: Ways): number {
  try {
    return Number(ways.where.applySync(undefined, [], within));
  } catch {
    return 0;
  }
}
