import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { accountHeaders, server } from "#plugins/web/kit/server.ts";
import { ApiError } from "#plugins/web/kit/client.ts";
import type { Dropped } from "./dropped.ts";

/** Files that are sent at the same time. */
const atOnce = 3;

interface Failed {
  readonly item: Dropped;
  readonly reason: string;
}

/** Sends files into a collection, with their folders; one that fails keeps nothing from the others. */
export class Uploads {
  total = $state(0);
  done = $state(0);
  failed = $state.raw<readonly Failed[]>([]);
  #queue: { item: Dropped; root: string | null }[] = [];
  #running = 0;
  #finished: (() => void)[] = [];
  #stopped = new AbortController();
  readonly #directories = new Map<string, Promise<string | null>>();

  readonly knowledgeId: string;
  readonly tell: () => void;

  constructor(knowledgeId: string, tell: () => void) {
    this.knowledgeId = knowledgeId;
    this.tell = tell;
  }

  get isBusy(): boolean {
    return this.done + this.failed.length < this.total;
  }

  add(items: readonly Dropped[], root: string | null): void {
    if (!this.isBusy) {
      [this.total, this.done, this.failed] = [0, 0, []];
      this.#stopped = new AbortController();
    }
    this.total += items.length;
    this.#queue.push(...items.map((item) => ({ item, root })));
    while (this.#running < atOnce && this.#queue.length > 0) {
      void this.#work();
    }
  }

  /** Resolves once nothing is sent any more. */
  finished(): Promise<void> {
    return this.isBusy ? new Promise((resolve) => this.#finished.push(resolve)) : Promise.resolve();
  }

  /** What is not sent yet stays away. */
  stop(): void {
    this.total -= this.#queue.length;
    this.#queue = [];
    this.#stopped.abort();
  }

  retry(): void {
    const again = this.failed.map(({ item }) => item);
    this.total -= again.length;
    this.failed = [];
    this.add(again, null);
  }

  async #work(): Promise<void> {
    this.#running += 1;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      try {
        await this.#send(next.item, next.root);
        this.done += 1;
      } catch (error) {
        this.failed = [...this.failed, { item: next.item, reason: (error as Error).message }];
      }
      this.tell();
      if (!this.isBusy) {
        this.#finished.splice(0).forEach((resolve) => resolve());
      }
    }
    this.#running -= 1;
  }

  async #send({ file, path }: Dropped, root: string | null): Promise<void> {
    const directory = await this.#directory(path, root);
    const body = new FormData();
    body.append("file", file);
    const place = { knowledge_id: this.knowledgeId, ...(directory !== null && { directory_id: directory }) };
    body.append("metadata", JSON.stringify(place));
    const { signal } = this.#stopped;
    // oxlint-disable-next-line eslint/no-restricted-globals -- the typed client sends JSON
    const answer = await fetch("/api/v1/files/", {
      method: "POST",
      headers: accountHeaders(),
      body,
      signal,
    }).catch(() => {
      throw new Error(signal.aborted ? t("Stopped.") : t("The server could not be reached."));
    });
    if (!answer.ok) {
      throw new ApiError(answer.status, await answer.json().catch(() => undefined));
    }
  }

  /** The directory of a path; each is asked for once, however many files lie in it. */
  #directory(path: readonly string[], root: string | null): Promise<string | null> {
    if (path.length === 0) {
      return Promise.resolve(root);
    }
    const key = JSON.stringify([root, path]);
    const known = this.#directories.get(key);
    const made = known ?? this.#make(path, root);
    this.#directories.set(key, made);
    made.catch(() => this.#directories.delete(key));
    return made;
  }

  async #make(path: readonly string[], root: string | null): Promise<string | null> {
    const parent = await this.#directory(path.slice(0, -1), root);
    const name = path.at(-1) as string;
    const params = { id: this.knowledgeId };
    try {
      const body = { name, parent_id: parent };
      return (await server.call("POST /api/v1/knowledge/:id/dirs/create", { params, body })).id;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) {
        throw error;
      }
      const query = parent === null ? {} : { directory_id: parent };
      const { directories } = await server.call("GET /api/v1/knowledge/:id/files", { params, query });
      const there = directories.find((one) => one.name.toLowerCase() === name.toLowerCase());
      if (there === undefined) {
        throw error;
      }
      return there.id;
    }
  }
}
