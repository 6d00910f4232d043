import robotsParser from "robots-parser";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";

export interface RobotsOptions {
  readonly egress: Pick<Egress, "fetch">;
  /** The whole User-Agent; its first word is looked up in the rules. */
  userAgent(): string;
  trust(): "user" | "operator";
  now?(): number;
}

export interface Robots {
  /** Throws `forbidden` for an address that the site keeps from programs (RFC 9309). */
  require(url: URL, signal: AbortSignal): Promise<void>;
}

const keptMs = 3_600_000;
const brokenMs = 60_000;
const mostSites = 500;
const timeoutMs = 10_000;
/** RFC 9309, 2.5: at least 500 kibibytes have to be read. */
const mostBytes = 512 * 1024;

/** The part of a parsed file that is used. */
interface SiteRules {
  isAllowed(url: string, agent?: string): boolean | undefined;
}

// The types of the package describe a module of the other kind.
const parseRobots = robotsParser as unknown as (address: string, text: string) => SiteRules;

interface Rules {
  readonly until: number;
  /** Undefined where the site has no rules; `closed` where it could not say. */
  readonly rules: SiteRules | "closed" | undefined;
}

/** Looks up robots.txt, once an hour and site. */
export function createRobots({ egress, userAgent, trust, now = Date.now }: RobotsOptions): Robots {
  const known = new Map<string, Rules>();

  async function find(origin: string, signal: AbortSignal): Promise<Rules["rules"]> {
    const kept = known.get(origin);
    if (kept && kept.until > now()) {
      return kept.rules;
    }
    const address = `${origin}/robots.txt`;
    const found = await read(address, signal);
    const rules = typeof found === "object" ? parseRobots(address, found.text) : found;
    known.delete(origin);
    known.set(origin, { rules, until: now() + (rules === "closed" ? brokenMs : keptMs) });
    if (known.size > mostSites) {
      known.delete(known.keys().next().value as string);
    }
    return rules;
  }

  /** RFC 9309, 2.3.1: without the file everything is open, and while the server fails nothing is. */
  async function read(
    address: string,
    signal: AbortSignal,
  ): Promise<{ text: string } | "closed" | undefined> {
    let isElsewhere = false;
    try {
      const response = await egress.fetch(address, {
        trust: trust(),
        signal,
        timeoutMs,
        headers: { "user-agent": userAgent(), accept: "text/plain, */*;q=0.1" },
        onRedirect: () => (isElsewhere = true),
      });
      if (!response.ok) {
        await response.body?.cancel();
        return response.status >= 500 ? "closed" : undefined;
      }
      return { text: await readStart(response) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError && error.code === "forbidden") {
        throw error;
      }
      return isElsewhere ? undefined : "closed";
    }
  }

  return {
    async require(url, signal) {
      const rules = await find(url.origin, signal);
      if (rules === "closed") {
        throw new AppError(
          "upstream",
          `${url.host} does not say now which pages programs may read (robots.txt).`,
        );
      }
      const [agent] = userAgent().split(/[/ ]/, 1);
      if (rules?.isAllowed(url.href, agent) === false) {
        throw new AppError("forbidden", `${url.host} keeps this page from programs (robots.txt).`);
      }
    },
  };
}

async function readStart(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    size += piece.byteLength;
    if (size >= mostBytes) {
      break;
    }
  }
  return Buffer.concat(pieces).subarray(0, mostBytes).toString("utf8");
}
