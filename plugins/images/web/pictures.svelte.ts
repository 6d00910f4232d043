import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";

export type Picture = Api["GET /api/v1/images/gallery"]["answer"]["items"][number];
export type Options = Api["GET /api/v1/images/options"]["answer"];

/** What the form asks for; with pictures it asks for changes of them. */
export interface Wish {
  readonly prompt: string;
  /** Such as 1024x1024; empty for the size of the settings. */
  readonly size: string;
  readonly n: number;
  /** Ids of files, or data URIs. */
  readonly images: readonly string[];
}

/** A wish that the engine works on, or that failed. */
export class Making {
  readonly wish: Wish;
  readonly startedAt = Date.now();
  failure = $state<string>();
  readonly #abort = new AbortController();

  constructor(wish: Wish) {
    this.wish = wish;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The server notices, and takes the work back from engines that can stop it. */
  cancel(): void {
    this.#abort.abort();
  }
}

/** The pictures of the person, newest first, and those that are being made. */
export class PictureList {
  options = $state.raw<Options>();
  items = $state.raw<readonly Picture[]>();
  making = $state.raw<readonly Making[]>([]);
  failure = $state<string>();
  #next = $state<number | null>(null);
  /** Pictures that go when nobody takes their removal back. */
  #leaving = $state.raw<ReadonlySet<string>>(new Set());

  readonly hasMore = $derived(this.#next !== null);
  readonly shown = $derived(this.items?.filter(({ id }) => !this.#leaving.has(id)));

  async load(): Promise<void> {
    try {
      const [options] = await Promise.all([server.call("GET /api/v1/images/options"), this.#read()]);
      this.options = options;
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  async more(): Promise<void> {
    if (this.#next !== null) {
      await this.#read(this.#next);
    }
  }

  async make(wish: Wish): Promise<void> {
    const making = new Making(wish);
    this.making = [making, ...this.making];
    try {
      await send(making);
      await this.#read();
      this.dismiss(making);
    } catch (error) {
      if (making.signal.aborted) {
        this.dismiss(making);
      } else {
        making.failure = (error as Error).message;
      }
    }
  }

  dismiss(making: Making): void {
    this.making = this.making.filter((each) => each !== making);
  }

  hide(id: string): void {
    this.#leaving = new Set([...this.#leaving, id]);
  }

  restore(id: string): void {
    this.#leaving = new Set([...this.#leaving].filter((each) => each !== id));
  }

  async remove(id: string): Promise<void> {
    await server.call("DELETE /api/v1/files/:id", { params: { id } });
    this.items = this.items?.filter((item) => item.id !== id);
  }

  async #read(before?: number): Promise<void> {
    const query = before === undefined ? {} : { before };
    const { items, next } = await server.call("GET /api/v1/images/gallery", { query });
    this.items = before === undefined ? items : [...(this.items ?? []), ...items];
    this.#next = next;
  }
}

async function send({ wish: { prompt, size, n, images }, signal }: Making): Promise<void> {
  const body = { prompt: prompt.trim(), n, ...(size !== "" && { size }) };
  await (images.length === 0
    ? server.call("POST /api/v1/images/generations", { body, signal })
    : server.call("POST /api/v1/images/edit", { body: { ...body, image: [...images] }, signal }));
}
