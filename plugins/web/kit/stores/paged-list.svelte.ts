interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Pause after the last key before a search is asked for. */
const typingMs = 150;

/** A list that the server gives page by page. Answers that a later question has overtaken are dropped. */
export class PagedList<Item extends { readonly id: string }, More = object> {
  /** Undefined until the first page is there. */
  items = $state.raw<readonly Item[]>();
  /** Items on the server, those of later pages included. */
  total = $state(0);
  failure = $state<string>();
  #page = 1;
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #read: (page: number) => Promise<Page<Item> & More>;
  readonly #onread: ((found: More) => void) | undefined;

  /** `read` asks for a page, from 1; `onread` takes what an answer says besides. */
  constructor(read: (page: number) => Promise<Page<Item> & More>, onread?: (found: More) => void) {
    this.#read = read;
    this.#onread = onread;
  }

  /** Asks for a page: the first replaces the list, a later one continues it. */
  async load(page = 1): Promise<void> {
    const turn = ++this.#turn;
    try {
      const found = await this.#read(page);
      if (turn === this.#turn) {
        this.items = page === 1 ? found.items : [...(this.items ?? []), ...found.items];
        [this.total, this.#page, this.failure] = [found.total, page, undefined];
        this.#onread?.(found);
      }
    } catch (error) {
      this.failure = turn === this.#turn ? (error as Error).message : this.failure;
    }
  }

  more(): Promise<void> {
    return this.load(this.#page + 1);
  }

  /** Asks anew once nobody has typed for a moment. */
  search(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), typingMs);
  }

  /** Hides an item before the server has deleted it. */
  hide(id: string): void {
    this.items = this.items?.filter((each) => each.id !== id);
  }
}
