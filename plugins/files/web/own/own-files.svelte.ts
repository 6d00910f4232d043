import { SvelteSet } from "svelte/reactivity";
import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";
import { PagedList } from "#plugins/web/kit/stores/paged-list.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";

export type Storage = Api["GET /api/v1/files/storage"]["answer"];
export type OwnFile = Api["GET /api/v1/files/:id"]["answer"];

/** As many as the server gives at once. */
const pageSize = 50;

/** The files of a person, newest first, and the room that they take. */
class OwnFiles {
  query = $state("");
  storage = $state.raw<Storage>();
  /** Deleted, or to be deleted once the time for undo is over. */
  readonly #leaving = new SvelteSet<string>();
  readonly list = new PagedList<OwnFile>((page) => this.#read(page));
  readonly #held = $derived([...new Map((this.list.items ?? []).map((file) => [file.id, file])).values()]);
  readonly shown = $derived(this.#held.filter(({ id }) => !this.#leaving.has(id)));
  readonly hasMore = $derived(this.#held.length < this.list.total);

  /** Begins as a page that was never open. */
  async open(): Promise<void> {
    this.query = "";
    this.list.items = undefined;
    this.storage = undefined;
    await this.load();
  }

  async load(): Promise<void> {
    await Promise.all([this.list.load(), this.#measure()]);
  }

  /** Continues behind what is still there: what was deleted has moved the pages of the server. */
  async more(): Promise<void> {
    await this.list.load(Math.floor(this.#held.length / pageSize) + 1);
  }

  /** Takes a file out of sight; `undo` brings it back, `commit` deletes it. */
  remove(id: string): { undo(): void; commit(): Promise<void> } {
    this.#leaving.add(id);
    return {
      undo: () => void this.#leaving.delete(id),
      commit: () =>
        toasts.attempt(async () => {
          try {
            await server.call("DELETE /api/v1/files/:id", { params: { id } });
            this.list.hide(id);
            this.list.total -= 1;
          } catch (error) {
            this.#leaving.delete(id);
            throw error;
          }
          await this.#measure();
        }),
    };
  }

  async #read(page: number) {
    // Signs of the server's own patterns are letters here.
    const wanted = this.query.trim().replaceAll(/[*?]/g, "");
    const filename = wanted === "" ? undefined : `*${wanted}*`;
    const query = { page, content: "false", mine: "true", ...(filename ? { filename } : {}) };
    return (await server.call("GET /api/v1/files/", { query })) as {
      readonly items: readonly OwnFile[];
      readonly total: number;
    };
  }

  async #measure(): Promise<void> {
    await toasts.attempt(async () => {
      this.storage = await server.call("GET /api/v1/files/storage");
    });
  }
}

/** One for all visits: a file whose time for undo is not over stays out of sight when the page comes back. */
export const ownFiles = new OwnFiles();
