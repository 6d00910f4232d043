import { Readable } from "node:stream";
import { watched, type Work } from "#kernel/work.ts";
import { toRedirectRefusal } from "./failure.ts";
import { type Hop, isRedirect, maxRedirects, toNextHop } from "./redirect.ts";
import { toTarget, type Trust, trustAfterRedirect } from "./target.ts";

/** The limits of a chain of redirects. */
export interface Route {
  readonly trust: Trust;
  /** Origins that may be private whatever the trust. */
  readonly allowedOrigins: readonly string[];
  readonly allowRedirects: boolean;
  /** Told where a redirect points, before it is followed or refused; it may throw to refuse. */
  onRedirect?(to: URL): void;
}

/** How `follow` works with the answers of one kind of request. */
export interface Kind<Body, Answer> {
  send(hop: Hop<Body>, isChecked: boolean): Promise<Answer>;
  read(answer: Answer): { status: number; location: unknown };
  /** Releases an answer that will not be read. */
  drop(answer: Answer): void;
  /** Whether a redirect that is not followed is an answer like any other. */
  readonly isPassedOn: boolean;
}

/**
 * Sends a request and, where that is allowed, the ones it is redirected to; each hop is judged anew. Rejects with what
 * `toFirst` throws, too.
 */
export async function follow<Body, Answer>(
  toFirst: () => Hop<Body>,
  route: Route,
  kind: Kind<Body, Answer>,
): Promise<Answer> {
  let { trust } = route;
  let hop = toFirst();
  for (let count = 0; ; count += 1) {
    const { isChecked } = toTarget(hop.url, trust, route.allowedOrigins);
    const current = { hop, trust };
    const answer = await watched(
      () => toWork(current),
      () => kind.send(current.hop, isChecked),
      (found) => kind.read(found).status,
    );
    const { status, location } = kind.read(answer);
    if (!isRedirect(status, location)) {
      return answer;
    }
    const isFollowed = route.allowRedirects && count < maxRedirects && !isSpent(hop.body);
    if (!isFollowed && kind.isPassedOn) {
      return answer;
    }
    kind.drop(answer);
    const next = toNextHop(hop, status, location);
    route.onRedirect?.(next.url);
    if (!isFollowed) {
      throw toRedirectRefusal();
    }
    trust = trustAfterRedirect(hop.url, next.url, trust);
    hop = next;
  }
}

/** Addresses that people choose are without number, so none of them is named. */
function toWork({ hop, trust }: { hop: Hop<unknown>; trust: Trust }): Work {
  const name = trust === "operator" ? hop.url.host : "other";
  return { kind: "upstream", name, facts: { method: hop.method } };
}

/** A stream was read by the hop that redirected; there is nothing left to send again. */
function isSpent(body: unknown): boolean {
  return body instanceof Readable || body instanceof ReadableStream;
}
