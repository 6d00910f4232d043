import { followEvents } from "#plugins/web/kit/follow-events.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { type Detail, type Directory, type KnowledgeFile, type Listed, listPath } from "../knowledge.ts";
import type { Dropped } from "./dropped.ts";
import { Uploads } from "./uploads.svelte.ts";

/** Events of the indexing are for the owner of a file alone: while vectors are missing the page looks this often. */
const lookMs = 5_000;

/** An event of the files that are being read. */
interface Reading {
  readonly processing: number;
  readonly processed: number;
  readonly error: number;
}

/** The collection that a page shows: one directory of it, and what becomes of its files. */
export class OpenCollection {
  record = $state.raw<Detail>();
  listed = $state.raw<Listed>();
  failure = $state<string>();
  query = $state("");
  directory = $state<string | null>(null);
  page = $state(1);
  sort = $state<{ by: "name" | "size" | "updated_at" | "status"; direction: "asc" | "desc" }>({
    by: "name",
    direction: "asc",
  });
  /** Rows that wait for the end of their undo. */
  hidden = $state.raw<ReadonlySet<string>>(new Set());
  readonly uploads: Uploads;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopFollowing: (() => void) | undefined;
  #isClosed = false;
  #asked = 0;

  readonly id: string;

  constructor(id: string) {
    this.id = id;
    this.uploads = new Uploads(id, () => this.#follow(!this.uploads.isBusy));
    void this.load();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#stopFollowing?.();
  }

  async load(): Promise<void> {
    const mine = (this.#asked += 1);
    try {
      const [record, listed] = await Promise.all([
        server.call("GET /api/v1/knowledge/:id", { params: { id: this.id } }),
        this.#list(),
      ]);
      // An older answer may come after a newer one.
      if (mine === this.#asked) {
        [this.record, this.listed, this.failure] = [record, listed, undefined];
        if (record.processing_count > 0) {
          this.#follow(false);
        } else if (
          listed.items.some(({ index }) => index?.status === "pending" || index?.status === "embedding")
        ) {
          this.#lookAgain();
        }
      }
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  #list(): Promise<Listed> {
    const { by, direction } = this.sort;
    const query = this.query.trim();
    return server.call("GET /api/v1/knowledge/:id/files", {
      params: { id: this.id },
      query: {
        order_by: by,
        direction,
        page: this.page,
        ...(query === "" ? { directory_id: this.directory ?? "" } : { query }),
      },
    });
  }

  restart(): void {
    this.page = 1;
    void this.load();
  }

  enter(directory: string | null): void {
    this.directory = directory;
    this.query = "";
    this.restart();
  }

  sortBy(by: string): void {
    const isSame = this.sort.by === by;
    const direction = isSame && this.sort.direction === "asc" ? "desc" : "asc";
    this.sort = { by: by as OpenCollection["sort"]["by"], direction };
    this.restart();
  }

  upload(items: readonly Dropped[]): void {
    this.uploads.add(items, this.directory);
  }

  async retry(fileId: string): Promise<void> {
    await this.#do(() =>
      server.call("POST /api/v1/knowledge/:id/file/update", {
        params: { id: this.id },
        body: { file_id: fileId },
      }),
    );
  }

  async retryAll(): Promise<void> {
    for (const file of this.record?.files.filter(({ status }) => status === "error") ?? []) {
      await this.retry(file.id);
    }
  }

  /** Gone at once, with ten seconds to bring it back. */
  remove({ id, filename }: KnowledgeFile): void {
    this.#hide(id, t("“{name}” is taken out.", { name: filename }), () =>
      server.call("POST /api/v1/knowledge/:id/file/remove", {
        params: { id: this.id },
        query: { delete_file: "true" },
        body: { file_id: id },
      }),
    );
  }

  removeDirectory({ id, name }: Directory): void {
    this.#hide(id, t("The directory “{name}” is deleted with its files.", { name }), () =>
      server.call("DELETE /api/v1/knowledge/:id/dirs/:directory/delete", {
        params: { id: this.id, directory: id },
        query: { move_files: "false" },
      }),
    );
  }

  /** Moved at once; undo puts it back. */
  async move({ id, filename, directory_id: before }: KnowledgeFile, to: string | null): Promise<void> {
    const put = (directory: string | null) =>
      this.#do(() =>
        server.call("POST /api/v1/knowledge/:id/file/move", {
          params: { id: this.id },
          body: { file_id: id, directory_id: directory },
        }),
      );
    await put(to);
    toasts.show({
      text: t("“{name}” is moved.", { name: filename }),
      seconds: 10,
      action: { title: t("Undo"), run: () => put(before) },
    });
  }

  async makeDirectory(name: string): Promise<void> {
    await server.call("POST /api/v1/knowledge/:id/dirs/create", {
      params: { id: this.id },
      body: { name, parent_id: this.directory },
    });
    await this.load();
  }

  /** Files keep their other places: the name is the file's own. Rejects with the reason. */
  async renameFile({ id }: KnowledgeFile, filename: string): Promise<void> {
    await server.call("POST /api/v1/files/:id/rename", { params: { id }, body: { filename } });
    await this.load();
  }

  async renameDirectory({ id }: Directory, name: string): Promise<void> {
    await server.call("POST /api/v1/knowledge/:id/dirs/:directory/update", {
      params: { id: this.id, directory: id },
      body: { name },
    });
    await this.load();
  }

  removeAll(): void {
    const name = this.record?.name ?? "";
    router.navigate(listPath);
    toasts.undoable({
      text: t("“{name}” is deleted. Its files stay with their owners.", { name }),
      title: t("Undo"),
      undo: () => router.navigate(`${listPath}/${this.id}`),
      commit: () => server.call("DELETE /api/v1/knowledge/:id/delete", { params: { id: this.id } }),
    });
  }

  #hide(id: string, text: string, commit: () => Promise<unknown>): void {
    this.hidden = new Set([...this.hidden, id]);
    const show = () => (this.hidden = new Set([...this.hidden].filter((one) => one !== id)));
    toasts.undoable({
      text,
      title: t("Undo"),
      undo: show,
      commit: async () => {
        await this.#do(commit);
        show();
      },
    });
  }

  async #do(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      toasts.fail(error);
    }
    await this.load();
  }

  /** Follows the files that are being read; `anew` asks again at once, for files that the server did not know of before. */
  #follow(anew: boolean): void {
    if (this.#isClosed || (this.#stopFollowing !== undefined && !anew)) {
      return;
    }
    this.#stopFollowing?.();
    const end = () => {
      this.#stopFollowing?.();
      this.#stopFollowing = undefined;
      void this.load();
    };
    this.#stopFollowing = followEvents<Reading>(
      `/api/v1/knowledge/${encodeURIComponent(this.id)}/files/pending?stream=true`,
      {
        onData: (state) => {
          if (state.processing === 0 && !this.uploads.isBusy) {
            end();
          } else {
            void this.#show(state);
          }
        },
        onRefused: end,
      },
    );
  }

  /** Shows an event: its counts, and the rows anew. The whole record would be long, and comes when all files are read. */
  async #show({ processing, processed, error }: Reading): Promise<void> {
    if (this.record !== undefined) {
      this.record = {
        ...this.record,
        file_count: processing + processed + error,
        processing_count: processing,
        error_count: error,
      };
    }
    const mine = (this.#asked += 1);
    const listed = await this.#list().catch(() => undefined);
    if (listed !== undefined && mine === this.#asked) {
      this.listed = listed;
    }
  }

  #lookAgain(): void {
    if (this.#timer === undefined && !this.#isClosed) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        void this.load();
      }, lookMs);
    }
  }
}
