/** The fields of a part of the page in which somebody wrote, with their texts of before. */
export class TypedFields {
  readonly #before = new Map<Element, string>();
  readonly #scope: string;

  /** `scope` selects what fields have to stand in to count. */
  constructor(scope = "*") {
    this.#scope = scope;
  }

  /** Watches the fields in `root` until the returned function is called. */
  follow(root: HTMLElement): () => void {
    const control = new AbortController();
    root.addEventListener("beforeinput", (event) => this.#note(event.composedPath()[0]), {
      capture: true,
      signal: control.signal,
    });
    return () => control.abort();
  }

  /** True while a field holds a text that it did not hold before. A field that is gone, or empty again, holds none. */
  get isChanged(): boolean {
    return this.#before
      .entries()
      .some(
        ([field, before]) => field.isConnected && textOf(field).trim() !== "" && textOf(field) !== before,
      );
  }

  /** Takes the texts of now as stored. */
  forget(): void {
    this.#before.clear();
  }

  #note(target: EventTarget | undefined): void {
    const isTaken = target instanceof HTMLElement && target.closest(this.#scope) && !target.closest(passing);
    if (isTaken && !this.#before.has(target)) {
      this.#before.set(target, textOf(target));
    }
  }
}

/** Fields whose text is for the moment, or kept by other means: searches, pickers, trials, drafts. */
const passing = '[type="search"], [role="searchbox"], [role="combobox"], [data-passing], [data-draft]';

function textOf(field: Element): string {
  return "value" in field ? String(field.value) : (field.textContent ?? "");
}
