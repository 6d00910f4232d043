import { plural, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import type { FunctionItem } from "../functions.ts";

type Reaching = Pick<FunctionItem, "id" | "type" | "is_active" | "is_global" | "meta">;

/** A model whose requests a function can be put on. */
export interface WritableModel {
  readonly id: string;
  readonly name: string;
  readonly meta: Readonly<Record<string, unknown>>;
  /** A provider's model that nobody changed yet: putting a function on it makes its record. */
  readonly isUnsaved: boolean;
}

/** Where a function runs. */
export type Reach = "none" | "models" | "groups" | "every";

/** The models that the author may change, and which functions they name. */
export class Reaches {
  models = $state.raw<readonly WritableModel[]>([]);
  isLoaded = $state(false);
  busy = $state(false);
  failure = $state<string>();

  async load(): Promise<void> {
    try {
      this.models = await (session.isAdmin ? readAllModels() : readOwnModels());
      this.failure = undefined;
      this.isLoaded = true;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  has = (model: WritableModel, fn: Reaching): boolean => idsOf(model, fn).includes(fn.id);

  modelsOf = (fn: Reaching): readonly WritableModel[] => this.models.filter((model) => this.has(model, fn));

  of(fn: Reaching): Reach {
    if (fn.is_global) {
      return "every";
    }
    return this.modelsOf(fn).length > 0 ? "models" : groupsOf(fn).length > 0 ? "groups" : "none";
  }

  /** Whether it is on and, as far as this person can see, used by nothing. */
  isUnused = (fn: Reaching): boolean =>
    hasReach(fn) && fn.is_active && this.isLoaded && this.of(fn) === "none";

  /** Where it runs, in a few words; undefined while that is not known. */
  textOf(fn: Reaching): string | undefined {
    if (fn.is_global) {
      return t("Every model");
    }
    if (!this.isLoaded) {
      return undefined;
    }
    const models = this.modelsOf(fn);
    const groups = groupsOf(fn);
    const parts = [
      models.length === 1
        ? (models[0]?.name ?? "")
        : models.length > 1
          ? plural(models.length, "{count} model", "{count} models")
          : "",
      groups.length > 0 ? plural(groups.length, "{count} group", "{count} groups") : "",
    ].filter(Boolean);
    return parts.join(", ") || t("No models yet");
  }

  /** Names the function in the model, or no longer. */
  async set(model: WritableModel, fn: Reaching, on: boolean): Promise<void> {
    this.busy = true;
    this.failure = undefined;
    const others = idsOf(model, fn).filter((each) => each !== fn.id);
    try {
      const meta = { ...model.meta, [keyOf(fn)]: on ? [...others, fn.id] : others };
      const body = { id: model.id, name: model.name, meta };
      await (model.isUnsaved
        ? server.call("POST /api/v1/models/create", { body: { ...body, base_model_id: null, params: {} } })
        : server.call("POST /api/v1/models/model/update", { body: { id: model.id, meta } }));
      this.models = this.models.map((each) =>
        each.id === model.id ? { ...each, meta, isUnsaved: false } : each,
      );
    } catch (error) {
      await this.load();
      this.failure = (error as Error).message;
    }
    this.busy = false;
  }
}

/** Functions that work for requests to models. */
export const hasReach = ({ type }: Pick<Reaching, "type">): boolean => type === "filter" || type === "action";

export function groupsOf({ type, meta }: Pick<Reaching, "type" | "meta">): readonly string[] {
  const ids = type === "filter" ? meta["group_ids"] : undefined;
  return Array.isArray(ids) ? ids.map(String) : [];
}

const keyOf = ({ type }: Pick<Reaching, "type">) => (type === "action" ? "actionIds" : "filterIds");

function idsOf({ meta }: WritableModel, fn: Reaching): readonly string[] {
  const ids = meta[keyOf(fn)];
  return Array.isArray(ids) ? ids.map(String) : [];
}

async function readOwnModels(): Promise<WritableModel[]> {
  const { items } = await server.call("GET /api/v1/models/list", { query: {} });
  return items.filter(({ write_access: may }) => may).map(({ id, name, meta }) => toModel(id, name, meta));
}

/** Every saved model, and the models of providers that have no record. */
async function readAllModels(): Promise<WritableModel[]> {
  const [saved, { data }] = await Promise.all([
    server.call("GET /api/v1/models/all"),
    server.call("GET /api/models/base"),
  ]);
  const known = new Set(saved.map(({ id }) => id));
  const provided = (data as readonly Readonly<Record<string, unknown>>[])
    .map(({ id, name }) => ({ id: String(id), name: String(name ?? id) }))
    .filter(({ id }) => !known.has(id));
  return [
    ...saved.map(({ id, name, meta }) => toModel(id, name, meta)),
    ...provided.map(({ id, name }) => ({ id, name, meta: {}, isUnsaved: true })),
  ].toSorted((a, b) => a.name.localeCompare(b.name));
}

const toModel = (id: string, name: string, meta: WritableModel["meta"]): WritableModel => ({
  id,
  name,
  meta,
  isUnsaved: false,
});
