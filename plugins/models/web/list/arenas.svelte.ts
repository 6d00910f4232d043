import { type Grant, toSent } from "#plugins/web/kit/access/grants.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { BaseModel } from "../model-record.ts";

type Bag = Readonly<Record<string, unknown>>;

interface DraftArena {
  readonly id: string;
  readonly name: string;
  readonly mode: "all" | "include" | "exclude";
  readonly modelIds: readonly string[];
  readonly grants: readonly Grant[];
  /** What the setting holds beside these. */
  readonly meta: Bag;
}

/** The arena models of the instance, as they are edited. */
export class Arenas {
  list = $state.raw<readonly DraftArena[]>();
  isOn = $state(true);
  models = $state.raw<readonly Pick<BaseModel, "id" | "name">[]>([]);
  failure = $state<string>();
  #stored = $state("");

  isChanged = $derived(this.list !== undefined && this.#text() !== this.#stored);

  async load(): Promise<void> {
    try {
      const [config, { data }] = await Promise.all([
        server.call("GET /api/v1/evaluations/config"),
        server.call("GET /api/models"),
      ]);
      const { ENABLE_EVALUATION_ARENA_MODELS: isOn, EVALUATION_ARENA_MODELS: stored } = config as Bag;
      this.models = (data as readonly Bag[])
        .filter((item) => item["arena"] !== true)
        .map((item) => ({ id: String(item["id"]), name: String(item["name"] ?? item["id"]) }));
      this.isOn = isOn !== false;
      this.list = (Array.isArray(stored) ? (stored as Bag[]) : []).map(toDraft);
      this.#stored = this.#text();
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  change(at: number, change: Partial<DraftArena>): void {
    this.list = this.list?.map((arena, index) => (index === at ? { ...arena, ...change } : arena));
  }

  add(name: string): void {
    const list = this.list ?? [];
    const id = `arena-${list.length + 1}`;
    this.list = [...list, { id, name, mode: "all", modelIds: [], grants: [], meta: {} }];
  }

  remove(at: number): void {
    this.list = this.list?.toSpliced(at, 1);
  }

  async save(): Promise<void> {
    const body = {
      ENABLE_EVALUATION_ARENA_MODELS: this.isOn,
      EVALUATION_ARENA_MODELS: (this.list ?? []).map(toSetting),
    };
    await server.call("POST /api/v1/evaluations/config", { body: body as never });
    this.#stored = this.#text();
  }

  #text(): string {
    return JSON.stringify([this.isOn, this.list]);
  }
}

function toDraft({ id, name, meta }: Bag): DraftArena {
  const { model_ids: ids, filter_mode: mode, access_grants: grants, ...rest } = (meta ?? {}) as Bag;
  const modelIds = Array.isArray(ids) ? ids.filter((one) => typeof one === "string") : [];
  return {
    id: String(id),
    name: String(name),
    mode: modelIds.length === 0 ? "all" : mode === "exclude" ? "exclude" : "include",
    modelIds,
    grants: Array.isArray(grants) ? toSent(grants as Grant[]) : [],
    meta: rest,
  };
}

const toSetting = ({ id, name, mode, modelIds, grants, meta }: DraftArena) => ({
  id: id.trim(),
  name: name.trim(),
  meta: {
    ...meta,
    ...(mode === "all" ? {} : { model_ids: modelIds, filter_mode: mode }),
    access_grants: grants,
  },
});
