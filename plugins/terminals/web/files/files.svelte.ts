import { type EventEnvelope, socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { ask, type Entry, type Folder, join, parentOf, type Place, post, query } from "../api.ts";

/** What a file looks like. */
export type Preview =
  | { readonly kind: "text"; readonly text: string; readonly isCut: boolean }
  | { readonly kind: "picture"; readonly url: string }
  | { readonly kind: "other" };

const largestText = 512 * 1024;
const largestPicture = 16 * 1024 * 1024;

/** One folder of a terminal, and the file of it that is shown. */
export class Files {
  readonly place: Place;
  folder = $state("");
  entries = $state.raw<readonly Entry[]>();
  shown = $state.raw<Entry>();
  failure = $state<string>();
  isUploading = $state(false);
  #url: string | undefined;

  constructor(place: Place) {
    this.place = place;
  }

  async open(folder?: string): Promise<void> {
    this.failure = undefined;
    try {
      const start = folder || (await this.#start());
      const answer = await ask(this.place, `files/list${query({ directory: start })}`);
      const read = (await answer.json()) as Folder;
      this.folder = read.dir;
      this.entries = read.entries.toSorted(
        (a, b) => a.type.localeCompare(b.type) || a.name.localeCompare(b.name),
      );
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  /** Reads the folder again when a model changed something; returns the way out. */
  follow(): () => void {
    const stop = socket.on<EventEnvelope>("events", ({ data }) => {
      const { terminal_id: id, path } = (data.data ?? {}) as { terminal_id?: string; path?: string };
      if (!data.type.startsWith("terminal:") || id !== this.place.terminalId) {
        return;
      }
      const name = data.type === "terminal:display_file" ? path?.split("/").at(-1) : undefined;
      void this.open(name === undefined ? this.folder : parentOf(path as string)).then(() => {
        this.shown = this.entries?.find((entry) => entry.name === name) ?? this.shown;
      });
    });
    return () => {
      stop();
      this.#release();
    };
  }

  enter(entry: Entry): void {
    if (entry.type === "directory") {
      void this.open(join(this.folder, entry.name));
    } else {
      this.shown = entry;
    }
  }

  up(): void {
    void this.open(parentOf(this.folder));
  }

  hide(): void {
    this.#release();
    this.shown = undefined;
  }

  async preview(entry: Entry): Promise<Preview> {
    this.#release();
    const isPicture = /\.(?:png|jpe?g|gif|webp|avif|bmp|ico)$/i.test(entry.name);
    if (isPicture ? entry.size > largestPicture : entry.size > 64 * largestText) {
      return { kind: "other" };
    }
    const blob = await (
      await ask(this.place, `files/view${query({ path: join(this.folder, entry.name) })}`)
    ).blob();
    if (isPicture) {
      this.#url = URL.createObjectURL(blob);
      return { kind: "picture", url: this.#url };
    }
    const text = await blob.slice(0, largestText).text();
    return text.includes("\0") ? { kind: "other" } : { kind: "text", text, isCut: blob.size > largestText };
  }

  async download(entry: Entry): Promise<void> {
    await this.#try(async () => {
      const blob = await (
        await ask(this.place, `files/view${query({ path: join(this.folder, entry.name) })}`)
      ).blob();
      const url = URL.createObjectURL(blob);
      Object.assign(document.createElement("a"), { href: url, download: entry.name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    });
  }

  async upload(given: readonly File[]): Promise<void> {
    this.isUploading = true;
    for (const file of given) {
      await this.#try(async () => {
        const body = new FormData();
        body.append("file", file);
        await ask(this.place, `files/upload${query({ directory: this.folder })}`, { method: "POST", body });
      });
    }
    this.isUploading = false;
    await this.open(this.folder);
  }

  async rename(entry: Entry, name: string): Promise<void> {
    if (name !== entry.name) {
      const [source, destination] = [join(this.folder, entry.name), join(this.folder, name)];
      await this.#try(async () => void (await post(this.place, "files/move", { source, destination })));
      await this.open(this.folder);
    }
  }

  async remove(entry: Entry): Promise<void> {
    const path = join(this.folder, entry.name);
    await this.#try(
      async () => void (await ask(this.place, `files/delete${query({ path })}`, { method: "DELETE" })),
    );
    await this.open(this.folder);
  }

  async #start(): Promise<string> {
    const { cwd } = (await (await ask(this.place, "files/cwd")).json()) as { cwd: string };
    return cwd;
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      toasts.fail(error);
    }
  }

  #release(): void {
    if (this.#url !== undefined) {
      URL.revokeObjectURL(this.#url);
      this.#url = undefined;
    }
  }
}
