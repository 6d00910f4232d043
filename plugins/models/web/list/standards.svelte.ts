import { server } from "#plugins/web/kit/server.ts";

interface Ordered {
  readonly id: string;
  readonly name: string;
}

/** The order of the models, those pinned for newcomers and those that new chats begin with. */
export class Standards {
  models = $state.raw<readonly Ordered[]>();
  failure = $state<string>();
  #defaults = $state.raw<readonly string[]>([]);
  #pinned = $state.raw<readonly string[]>([]);
  #stored = $state("");

  isChanged = $derived(this.models !== undefined && this.#text() !== this.#stored);

  async load(): Promise<void> {
    try {
      const [config, { data }] = await Promise.all([
        server.call("GET /api/v1/configs/models"),
        server.call("GET /api/models"),
      ]);
      this.models = (data as readonly Record<string, unknown>[]).map((item) => ({
        id: String(item["id"]),
        name: String(item["name"] ?? item["id"]),
      }));
      this.#defaults = toIds(config.DEFAULT_MODELS);
      this.#pinned = toIds(config.DEFAULT_PINNED_MODELS);
      this.#stored = this.#text();
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  isDefault = (id: string): boolean => this.#defaults.includes(id);
  isPinned = (id: string): boolean => this.#pinned.includes(id);

  toggleDefault(id: string): void {
    this.#defaults = toggled(this.#defaults, id);
  }

  togglePinned(id: string): void {
    this.#pinned = toggled(this.#pinned, id);
  }

  move(from: number, to: number): void {
    const moved = this.models?.[from];
    if (this.models && moved) {
      this.models = this.models.toSpliced(from, 1).toSpliced(to, 0, moved);
    }
  }

  async save(): Promise<void> {
    await server.call("POST /api/v1/configs/models", {
      body: {
        DEFAULT_MODELS: this.#defaults.join(","),
        DEFAULT_PINNED_MODELS: this.#pinned.join(","),
        MODEL_ORDER_LIST: (this.models ?? []).map(({ id }) => id),
      },
    });
    this.#stored = this.#text();
  }

  #text(): string {
    return JSON.stringify([this.models?.map(({ id }) => id), this.#defaults, this.#pinned]);
  }
}

const toIds = (text: unknown): string[] =>
  (typeof text === "string" ? text : "")
    .split(",")
    .map((id) => id.trim())
    .filter(Boolean);

const toggled = (ids: readonly string[], id: string): string[] =>
  ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
