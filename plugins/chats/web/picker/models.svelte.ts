import { server } from "#plugins/web/kit/server.ts";
import { remembered } from "#plugins/web/kit/stores/remembered.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { settings } from "#plugins/web/kit/stores/settings.svelte.ts";
import { chooseModels } from "./choose-models.ts";
import { type Model, toModel } from "./model.ts";

/** The choice of this browser counts until the server has told which one was used last on any device. */
const lastUsed = remembered<string | undefined>("models.last", undefined);
/** Its key in the free-form info of the account. */
const infoKey = "last_model";
/** A list as old as this is read anew when the picker opens. */
const freshMs = 30_000;

/** The models that the person may use. */
class ModelStore {
  all = $state.raw<readonly Model[]>([]);
  state = $state<"loading" | "ready" | "failed">("loading");
  failure = $state.raw<Error>();
  readonly #byId = $derived(new Map(this.all.map((model) => [model.id, model])));
  #reading: Promise<void> | undefined;
  #readAt = 0;

  find(id: string | undefined): Model | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** The name of a model; its id where it is gone. */
  nameOf(id: string): string {
    return this.find(id)?.name ?? id;
  }

  /** Models on top of the picker: the person's, else those that the instance pins for newcomers. */
  get pinned(): readonly string[] {
    return settings.sourceOf("pinnedModels") === "built-in"
      ? toIds(session.config?.default_pinned_models)
      : settings.get("pinnedModels");
  }

  /** What a new chat begins with; `asked` are models that the address names. */
  forNewChat(asked: readonly string[] = []): readonly string[] {
    return chooseModels(this.all, {
      asked,
      own: settings.get("models"),
      lastUsed: typeof lastUsed.value === "string" ? [lastUsed.value] : [],
      instance: toIds(session.config?.default_models),
      pinned: this.pinned,
    });
  }

  /** Keeps the model that was used last; a comparison of several counts for its chat alone. */
  remember(ids: readonly string[]): void {
    const [id, ...others] = ids;
    if (id !== undefined && others.length === 0 && id !== lastUsed.value) {
      lastUsed.value = id;
      // A convenience: the message is sent without it being kept.
      void server
        .call("POST /api/v1/users/user/info/update", { body: { [infoKey]: id } })
        .catch(() => undefined);
    }
  }

  async setPinned(id: string, isPinned: boolean): Promise<void> {
    const others = this.pinned.filter((one) => one !== id);
    await settings.set("pinnedModels", isPinned ? [...others, id] : others);
  }

  /** Reads the list, unless it was read a moment ago. */
  load(): Promise<void> {
    if (this.state === "ready" && Date.now() - this.#readAt < freshMs) {
      return Promise.resolve();
    }
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readLastUsed(): Promise<void> {
    if (this.state !== "ready") {
      const info = await server.call("GET /api/v1/users/user/info").catch(() => undefined);
      const id = info?.[infoKey];
      lastUsed.value = typeof id === "string" ? id : lastUsed.value;
    }
  }

  async #read(): Promise<void> {
    try {
      const [{ data }] = await Promise.all([server.call("GET /api/models"), this.#readLastUsed()]);
      this.all = data.map(toModel);
      this.state = "ready";
      this.failure = undefined;
      this.#readAt = Date.now();
    } catch (error) {
      // A list that is there already serves on.
      this.failure = error as Error;
      this.state = this.all.length > 0 ? "ready" : "failed";
    }
  }
}

export const models = new ModelStore();

const toIds = (text: string | null | undefined): readonly string[] =>
  (text ?? "")
    .split(",")
    .map((id) => id.trim())
    .filter(Boolean);
