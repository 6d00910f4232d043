import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";

export type Picture = Api["GET /api/v1/images/gallery"]["answer"]["items"][number];

/** The form's request; empty texts follow the settings. */
export interface Wish {
  readonly prompt: string;
  readonly size: string;
  readonly model: string;
  readonly n: number;
}

/** The pictures of the person, newest first, and those that are being made. */
export class PictureList {
  items = $state.raw<readonly Picture[]>();
  /** Pictures that are being made. */
  pending = $state(0);
  failure = $state<string>();
  #next = $state<number | null>(null);

  readonly hasMore = $derived(this.#next !== null);

  async load(): Promise<void> {
    try {
      await this.#read();
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

  async make({ prompt, n, ...rest }: Wish, image?: string): Promise<void> {
    const chosen = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ""));
    const body = { ...chosen, prompt: prompt.trim(), n };
    this.pending += n;
    try {
      await (image === undefined
        ? server.call("POST /api/v1/images/generations", { body })
        : server.call("POST /api/v1/images/edit", { body: { ...body, image } }));
      await this.#read();
    } finally {
      this.pending -= n;
    }
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
