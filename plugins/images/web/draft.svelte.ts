import { newId } from "#plugins/web/kit/new-id.ts";
import type { Picture, Wish } from "./pictures.svelte.ts";

/** A picture that is to be changed. */
export interface Source {
  readonly key: string;
  readonly name: string;
  /** What the page shows. */
  readonly url: string;
  /** What the server is given: the id of a file, or a data URI. */
  readonly image: string;
}

const mostSources = 8;

/** What the person writes before they send it. */
export class Draft {
  prompt = $state("");
  size = $state("");
  count = $state("1");
  sources = $state.raw<readonly Source[]>([]);

  readonly isChange = $derived(this.sources.length > 0);
  readonly isFull = $derived(this.sources.length >= mostSources);
  readonly isReady = $derived(this.prompt.trim() !== "");

  toWish(): Wish {
    const images = this.sources.map(({ image }) => image);
    return { prompt: this.prompt, size: this.size, n: Number(this.count), images };
  }

  /** Empties what belongs to one wish; format and number stay for the next one. */
  clear(): void {
    this.prompt = "";
    this.sources = [];
  }

  /** Begins a change of a picture of the gallery. */
  change({ id, url, prompt }: Picture): void {
    this.prompt = "";
    this.sources = [{ key: id, name: prompt, url, image: id }];
  }

  async attach(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      if (!this.isFull && file.type.startsWith("image/")) {
        const url = await toDataUri(file);
        this.sources = [...this.sources, { key: newId(), name: file.name, url, image: url }];
      }
    }
  }

  detach({ key }: Source): void {
    this.sources = this.sources.filter((source) => source.key !== key);
  }
}

function toDataUri(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error ?? new Error(file.name)));
    reader.readAsDataURL(file);
  });
}
