/** The address of now, followed by everything that shows a place. */
class Router {
  path = $state(location.pathname);
  search = $state(location.search);
  hash = $state(location.hash);
  /** Counts every wish to go somewhere, the address of now included: "New chat" on a new chat begins anew. */
  visits = $state(0);

  constructor() {
    addEventListener("popstate", () => this.#read());
  }

  /** Goes to an address of the interface; `replace` leaves no step for the back button. */
  navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
    const url = new URL(to, location.href);
    this.visits += 1;
    if (url.href === location.href) {
      return;
    }
    history[replace ? "replaceState" : "pushState"](null, "", url.pathname + url.search + url.hash);
    this.#read();
  }

  #read(): void {
    this.path = location.pathname;
    this.search = location.search;
    this.hash = location.hash;
  }
}

export const router = new Router();

/** `/c/:id` against `/c/42` → `{ id: "42" }`; undefined when it does not fit. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  if (wanted.length !== given.length) {
    return undefined;
  }
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] as string;
    if (segment.startsWith(":")) {
      params[segment.slice(1)] = decodeURIComponent(value);
    } else if (segment !== value) {
      return undefined;
    }
  }
  return params;
}

/** Clicks on links of this origin change the page without loading it anew. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.("a");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (
    !link?.href ||
    !isPlain ||
    event.defaultPrevented ||
    link.target === "_blank" ||
    link.hasAttribute("download")
  ) {
    return;
  }
  const url = new URL(link.href);
  if (url.origin === location.origin && !/^\/(api|plugins|runtime|compat|docs)\//.test(url.pathname)) {
    event.preventDefault();
    router.navigate(url.pathname + url.search + url.hash);
  }
}
