import type { Api } from "#plugins/catalogue.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { Dropped } from "./dropped.ts";
import type { Uploads } from "./uploads.svelte.ts";

type Diff = Api["POST /api/v1/knowledge/:id/sync/diff"]["answer"];

/** The directory that a folder is compared with. */
export interface SyncTarget {
  readonly knowledgeId: string;
  /** Null for the root. */
  readonly directoryId: string | null;
  readonly uploads: Uploads;
}

/** Compares a folder of this computer with a directory of a collection, and makes the directory hold what the folder does. */
export class FolderSync {
  state = $state<"comparing" | "compared" | "working" | "failed">("comparing");
  compared = $state(0);
  diff = $state.raw<Diff>();
  problem = $state<string>();
  readonly total: number;
  readonly #files: ReadonlyMap<string, Dropped>;
  readonly #target: SyncTarget;
  #isStopped = false;

  /** `files` have paths below the folder, without its own name. */
  constructor(files: readonly Dropped[], target: SyncTarget) {
    this.#files = new Map(files.map((item) => [toKey(item.path.join("/"), item.file.name), item]));
    this.total = files.length;
    this.#target = target;
    void this.#compare();
  }

  get isSame(): boolean {
    const { added, modified, deleted, rmdir } = this.diff ?? {};
    return [added, modified, deleted, rmdir].every((list) => list?.length === 0);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #compare(): Promise<void> {
    const { knowledgeId, directoryId } = this.#target;
    try {
      const manifest = [];
      for (const { file, path } of this.#files.values()) {
        if (this.#isStopped) {
          return;
        }
        const checksum = await toChecksum(file);
        manifest.push({ path: path.join("/"), filename: file.name, checksum, size: file.size });
        this.compared += 1;
      }
      this.diff = await server.call("POST /api/v1/knowledge/:id/sync/diff", {
        params: { id: knowledgeId },
        body: { manifest, directory_id: directoryId },
      });
      this.state = "compared";
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Sends what is new or changed, then takes away what it replaces and what is gone. Resolves to true once all is done. */
  async apply(): Promise<boolean> {
    const { knowledgeId, directoryId, uploads } = this.#target;
    const { added, modified, deleted, rmdir } = this.diff as Diff;
    this.state = "working";
    const find = (entry: { path: string; filename: string }) =>
      this.#files.get(toKey(entry.path, entry.filename));
    const items = [...added, ...modified].flatMap((entry) => find(entry) ?? []);
    try {
      if (items.length > 0) {
        uploads.add(items, directoryId);
        await uploads.finished();
      }
      // A file that could not be sent keeps the version that is there.
      const unsent = new Set(uploads.failed.map(({ item }) => item));
      const replaced = modified.filter((entry) => !unsent.has(find(entry) as Dropped));
      await server.call("POST /api/v1/knowledge/:id/sync/cleanup", {
        params: { id: knowledgeId },
        body: {
          file_ids: [...deleted, ...replaced].map(({ file_id }) => file_id),
          dir_ids: rmdir.map(({ id }) => id),
        },
      });
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  #fail(error: unknown): void {
    this.problem = (error as Error).message;
    this.state = "failed";
  }
}

/** The server answers with composed letters, and some file systems have decomposed ones. */
const toKey = (path: string, name: string) => `${path}/${name}`.normalize("NFC");

async function toChecksum(file: File): Promise<string> {
  // Browsers have it on secure origins alone.
  if (globalThis.crypto.subtle === undefined) {
    throw new Error(t("Browsers compare files over https alone. Open this page by an https address."));
  }
  const sum = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
