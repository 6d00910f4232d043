import { SvelteMap, SvelteSet } from "svelte/reactivity";
import type { Api } from "#plugins/catalogue.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { type FolderContents, listPageSize, withMore, withNewest } from "./listed.ts";

/** A folder of somebody else. */
export type SharedFolder = Api["GET /api/v1/folders/shared"]["answer"][number];

/** Folders that others share with the reader, and the chats in those that are open. */
export class SharedFolders {
  folders = $state.raw<readonly SharedFolder[]>([]);
  readonly contents = new SvelteMap<string, FolderContents>();
  /** Which are open is the reader's own matter: the server keeps it for owners alone. */
  readonly open = new SvelteSet<string>();

  /** Reads on while one looks at the page: sharing a folder announces nothing to those it is shared with. */
  follow(): void {
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") {
        void this.refresh().catch(() => undefined);
      }
    });
  }

  async refresh(): Promise<void> {
    this.folders = await server.call("GET /api/v1/folders/shared");
    const known = new Set(this.folders.map(({ id }) => id));
    for (const id of this.open) {
      if (!known.has(id)) {
        this.open.delete(id);
        this.contents.delete(id);
      }
    }
    await Promise.allSettled([...this.open].map((id) => this.read(id)));
  }

  async toggle(id: string, isOpen: boolean): Promise<void> {
    if (!isOpen) {
      this.open.delete(id);
      return;
    }
    this.open.add(id);
    try {
      await this.read(id);
    } catch (error) {
      this.open.delete(id);
      toasts.fail(error, t("The folder was not opened."));
    }
  }

  /** Reads a folder's newest chats, or those after the ones that are shown. */
  async read(id: string, further = false): Promise<void> {
    const known = this.contents.get(id)?.items ?? [];
    const page = further ? Math.floor(known.length / listPageSize) + 1 : 1;
    const read = await server.call("GET /api/v1/folders/:id/shared/chats", {
      params: { id },
      query: { page },
    });
    const items = read.map((chat) => ({ ...chat, archived: false, snippet: null }));
    this.contents.set(id, {
      items: further ? withMore(known, items) : withNewest(known, items, listPageSize),
      isAll: items.length < listPageSize,
    });
  }
}
