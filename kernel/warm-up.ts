import type { Egress } from "./egress/egress.ts";
import type { OwnedRoute } from "./http/bind.ts";
import type { Surface } from "./http/surfaces.ts";

export interface WarmUpOptions {
  readonly routes: readonly OwnedRoute[];
  readonly egress: Egress;
  /** Address of the open listener. */
  readonly url: string;
  /** Milliseconds for each half of the warm-up. */
  readonly budgetMs?: number;
}

/** Surfaces whose routes are called by programs, with load from the first second on. */
const busySurfaces: ReadonlySet<Surface> = new Set(["main", "compat", "runtime"]);
const concurrency = 8;

/**
 * Compiles lazy parts before the first request: validators of request bodies, the HTTP client and the way of a request
 * through the listener. Completions themselves are not run: user filters would see synthetic requests.
 * Failures are ignored, because the server works without.
 */
export async function warmUp({ routes, egress, url, budgetMs = 100 }: WarmUpOptions): Promise<void> {
  compileValidators(routes, budgetMs);
  const end = performance.now() + budgetMs;
  const repeat = async () => {
    while (performance.now() < end) {
      const { body } = await egress.request(`${url}/health`, { trust: "operator", timeoutMs: budgetMs });
      await body.toArray();
    }
  };
  await Promise.allSettled(Array.from({ length: concurrency }, repeat));
}

/** zod compiles a validator at its first use. */
function compileValidators(routes: readonly OwnedRoute[], budgetMs: number): void {
  const end = performance.now() + budgetMs;
  for (const { surface, route } of routes) {
    if (performance.now() > end) {
      return;
    }
    if (busySurfaces.has(surface)) {
      route.body?.safeParse({});
    }
  }
}
