import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";

/** A saved model that the author may write. */
export interface WritableModel {
  readonly id: string;
  readonly name: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

type Key = "filterIds" | "actionIds";

/** Which saved models name a function. */
export class ModelChoice {
  models = $state.raw<readonly WritableModel[]>([]);
  isLoaded = $state(false);
  busy = $state(false);
  failure = $state<string>();

  async load(): Promise<void> {
    try {
      const [{ items }, base] = await Promise.all([
        server.call("GET /api/v1/models/list", { query: {} }),
        session.isAdmin ? server.call("GET /api/v1/models/base") : Promise.resolve([]),
      ]);
      const writable = items.filter(({ write_access: may }) => may);
      this.models = [...writable, ...base].map(({ id, name, meta }) => ({ id, name, meta }));
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
    this.isLoaded = true;
  }

  has = (model: WritableModel, key: Key, id: string): boolean => idsOf(model, key).includes(id);

  /** Names the function in the model, or no longer. */
  async set(model: WritableModel, { key, id, on }: { key: Key; id: string; on: boolean }): Promise<void> {
    this.busy = true;
    this.failure = undefined;
    const others = idsOf(model, key).filter((each) => each !== id);
    try {
      const meta = { ...model.meta, [key]: on ? [...others, id] : others };
      await server.call("POST /api/v1/models/model/update", { body: { id: model.id, meta } });
      this.models = this.models.map((each) => (each.id === model.id ? { ...each, meta } : each));
    } catch (error) {
      this.failure = (error as Error).message;
      await this.load();
    }
    this.busy = false;
  }
}

function idsOf({ meta }: WritableModel, key: Key): readonly string[] {
  const ids = meta[key];
  return Array.isArray(ids) ? ids.map(String) : [];
}
