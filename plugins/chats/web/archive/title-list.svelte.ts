/** A chat as lists show it. */
export interface ListedTitle {
  readonly id: string;
  readonly title: string;
  readonly updated_at: number;
  readonly created_at: number;
}

type Fetch<Item> = (given: { query: string; page: number; signal: AbortSignal }) => Promise<readonly Item[]>;

const pageSize = 60;
const pauseMs = 200;

/** A list of the server that can be searched and grows while it is scrolled. */
export class TitleList<Item extends ListedTitle> {
  items = $state.raw<readonly Item[]>();
  query = $state("");
  isAll = $state(false);
  failure = $state<string>();
  readonly #fetch: Fetch<Item>;
  #page = 0;
  #stop: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(fetch: Fetch<Item>) {
    this.#fetch = fetch;
  }

  /** Asks anew, after a short pause while somebody types. */
  search(query: string): void {
    this.query = query;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), pauseMs);
  }

  /** Forgets what was searched and found. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#stop?.abort();
    this.query = "";
    this.items = undefined;
    this.failure = undefined;
  }

  async load(): Promise<void> {
    this.#stop?.abort();
    this.#stop = new AbortController();
    this.#page = 0;
    this.isAll = false;
    await this.#next([], this.#stop);
  }

  async more(): Promise<void> {
    if (!this.isAll && this.items !== undefined && !this.#stop) {
      this.#stop = new AbortController();
      await this.#next(this.items, this.#stop);
    }
  }

  /** Takes an item out of sight; the returned function puts it back where it was. */
  take(id: string): () => void {
    const before = this.items ?? [];
    const index = before.findIndex((item) => item.id === id);
    const item = before[index];
    this.items = before.filter((one) => one.id !== id);
    return () => {
      if (item) {
        this.items = (this.items ?? []).toSpliced(index, 0, item);
      }
    };
  }

  async #next(before: readonly Item[], stop: AbortController): Promise<void> {
    try {
      const page = await this.#fetch({ query: this.query.trim(), page: this.#page + 1, signal: stop.signal });
      // A chat that moved in the order while pages were read comes twice.
      const known = new Set(before.map(({ id }) => id));
      this.items = [...before, ...page.filter(({ id }) => !known.has(id))];
      this.#page += 1;
      this.isAll = page.length < pageSize;
      this.failure = undefined;
    } catch (error) {
      if (!stop.signal.aborted) {
        this.failure = (error as Error).message;
      }
    } finally {
      if (this.#stop === stop) {
        this.#stop = undefined;
      }
    }
  }
}
