import { server } from "#plugins/web/kit/server.ts";
import type { ModelRecord } from "../model-record.ts";

export type ListedModel = ModelRecord;
export type View = "" | "created" | "shared" | "providers";

/** The saved models that the caller sees, a page at a time; for administrators also the providers' own models. */
export class ModelList {
  rows = $state.raw<readonly ListedModel[]>();
  total = $state(0);
  tags = $state.raw<readonly string[]>([]);
  failure = $state<string>();
  query = $state("");
  tag = $state("");
  view = $state<View>("");
  page = $state(1);
  sort = $state.raw<{ by: "name" | "updated_at"; direction: "asc" | "desc" }>({
    by: "updated_at",
    direction: "desc",
  });
  #reading = 0;

  async load(): Promise<void> {
    const reading = (this.#reading += 1);
    try {
      const answer = this.view === "providers" ? await this.#readProviders() : await this.#readSaved();
      if (reading === this.#reading) {
        [this.rows, this.total] = [answer.items, answer.total];
        this.failure = undefined;
      }
    } catch (error) {
      if (reading === this.#reading) {
        this.failure = (error as Error).message;
      }
    }
  }

  async loadTags(): Promise<void> {
    this.tags = await server.call("GET /api/v1/models/tags").catch(() => []);
  }

  /** Shows the first page of another selection. */
  select(change: { query?: string; tag?: string; view?: View }): void {
    Object.assign(this, change);
    this.page = 1;
    void this.load();
  }

  sortBy(by: string): void {
    const isSame = this.sort.by === by;
    const direction = isSame
      ? this.sort.direction === "asc"
        ? "desc"
        : "asc"
      : by === "name"
        ? "asc"
        : "desc";
    this.sort = { by: by === "name" ? "name" : "updated_at", direction };
    this.page = 1;
    void this.load();
  }

  turnTo(page: number): void {
    this.page = page;
    void this.load();
  }

  async toggle(model: ListedModel): Promise<void> {
    const changed = await server.call("POST /api/v1/models/model/toggle", { query: { id: model.id } });
    this.rows = this.rows?.map((row) =>
      row.id === model.id ? { ...row, is_active: changed.is_active } : row,
    );
  }

  hide(id: string): void {
    this.rows = this.rows?.filter((row) => row.id !== id);
    this.total -= 1;
  }

  async #readSaved() {
    const { query, tag, view, page } = this;
    return await server.call("GET /api/v1/models/list", {
      query: {
        ...(query.trim() === "" ? {} : { query }),
        ...(tag === "" ? {} : { tag }),
        ...(view === "created" || view === "shared" ? { view_option: view } : {}),
        order_by: this.sort.by,
        direction: this.sort.direction,
        page,
      },
    });
  }

  /** Every model of the providers; where a record edits one, its name and state. */
  async #readProviders(): Promise<{ items: ListedModel[]; total: number }> {
    const [{ data }, records] = await Promise.all([
      server.call("GET /api/models/base"),
      server.call("GET /api/v1/models/base"),
    ]);
    const byId = new Map(records.map((record) => [record.id, record]));
    const wanted = this.query.trim().toLowerCase();
    const items = (data as readonly Record<string, unknown>[])
      .map(
        (item) =>
          byId.get(String(item["id"])) ?? unsaved(String(item["id"]), String(item["name"] ?? item["id"])),
      )
      .filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(wanted))
      .toSorted((a, b) => a.name.localeCompare(b.name));
    return { items, total: items.length };
  }
}

const unsaved = (id: string, name: string): ListedModel => ({
  id,
  user_id: "",
  base_model_id: null,
  name,
  model: id,
  meta: {},
  params: {},
  is_active: true,
  created_at: 0,
  updated_at: 0,
  user: null,
  write_access: true,
});
