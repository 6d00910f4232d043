import { beginsInField } from "../first-field.ts";
import { keepTypedAhead } from "../typed-ahead.ts";
import { leaving } from "./leaving.svelte.ts";

/** True while the page handles a press or a key of a person. */
let isWish = false;
for (const kind of ["pointerdown", "pointerup", "click", "keydown"]) {
  addEventListener(
    kind,
    () => {
      isWish = true;
      setTimeout(() => (isWish = false));
    },
    { capture: true },
  );
}

/** The address of now, followed by everything that shows a place. */
class Router {
  path = $state(location.pathname);
  search = $state(location.search);
  hash = $state(location.hash);
  /** Counts every wish to go somewhere, the address of now included: "New chat" on a new chat begins anew. */
  visits = $state(0);
  /** Counts the steps of this page in the browser's history. */
  #step = stepOf(history.state);
  /** How the next change of the browser's place is taken: it was asked about, or it puts the place back. */
  #expected: "agreed" | "undone" | undefined;

  constructor() {
    addEventListener("popstate", ({ state }) => this.#pop(stepOf(state)));
  }

  /**
   * Goes to an address of the interface; `replace` leaves no step for the back button. A person who would lose something
   * is asked first; a page that goes on by itself has stored what was typed.
   */
  navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
    const url = new URL(to, location.href);
    if (!isWish || url.pathname === location.pathname) {
      this.#go(url, replace);
    } else {
      leaving.attempt(() => this.#go(url, replace));
    }
  }

  #go(url: URL, replace: boolean): void {
    this.visits += 1;
    if (url.href === location.href) {
      return;
    }
    if (beginsInField(url.pathname, this.path) && !matchMedia("(pointer: coarse)").matches) {
      keepTypedAhead();
    }
    this.#step += replace ? 0 : 1;
    history[replace ? "replaceState" : "pushState"](
      { step: this.#step },
      "",
      url.pathname + url.search + url.hash,
    );
    this.#read();
  }

  /** Follows the buttons of the browser. Where something would be lost, the place is put back and a question asked. */
  #pop(step: number): void {
    const expected = this.#expected;
    const by = step - this.#step;
    this.#expected = undefined;
    if (expected === "undone") {
      return;
    }
    if (expected === undefined && by !== 0 && location.pathname !== this.path && leaving.isLossy) {
      this.#expected = "undone";
      history.go(-by);
      leaving.attempt(() => {
        this.#expected = "agreed";
        history.go(by);
      });
      return;
    }
    this.#step = step;
    this.#read();
  }

  #read(): void {
    this.path = location.pathname;
    this.search = location.search;
    this.hash = location.hash;
  }
}

export const router = new Router();

/** Zero for a place that the router did not make, such as the first one. */
function stepOf(state: unknown): number {
  return (state as { step?: number } | null)?.step ?? 0;
}

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
