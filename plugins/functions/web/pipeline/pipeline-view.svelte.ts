import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { FunctionItem } from "../functions.ts";

export interface ListedModel {
  readonly id: string;
  readonly name: string;
  readonly filters?: readonly { readonly id: string; readonly name: string }[];
}

type Pipeline = Awaited<ReturnType<typeof read>>;
export type Stage = Pipeline["filters"][number];

const read = (id: string, toggles: readonly string[]) =>
  server.call("GET /api/v1/models/pipeline", { query: { id, filter_ids: [...toggles] } });

/** The line that a request to one model takes. */
export class PipelineView {
  models = $state.raw<readonly ListedModel[]>();
  modelId = $state("");
  pipeline = $state.raw<Pipeline>();
  functions = $state.raw<readonly FunctionItem[]>([]);
  failure = $state<string>();
  busy = $state(false);

  async start(wanted: string | null): Promise<void> {
    this.failure = undefined;
    try {
      const [{ data }, functions] = await Promise.all([
        server.call("GET /api/models") as Promise<unknown> as Promise<{ data: readonly ListedModel[] }>,
        server.call("GET /api/v1/functions/list"),
      ]);
      this.models = data;
      this.functions = functions;
      const first = data.find(({ id }) => id === wanted) ?? data[0];
      if (first) {
        await this.choose(first.id);
      }
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  /** Filters of the model that people switch on themselves. */
  get toggles(): readonly string[] {
    return this.models?.find(({ id }) => id === this.modelId)?.filters?.map(({ id }) => id) ?? [];
  }

  async choose(id: string): Promise<void> {
    this.modelId = id;
    this.failure = undefined;
    try {
      const found = await read(id, this.toggles);
      // A model that was chosen since then has its own answer.
      if (id === this.modelId) {
        this.pipeline = found;
      }
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  functionOf = (id: string): FunctionItem | undefined => this.functions.find((each) => each.id === id);

  /** Whether its place can be changed: filters that people wrote. */
  isMovable = ({ id, priority }: Stage): boolean =>
    priority !== null && this.functionOf(id)?.type === "filter";

  /** Puts a stage in front of another, or last; shown at once and stored. */
  async move(id: string, to: number): Promise<void> {
    const { pipeline } = this;
    const moved = pipeline?.filters.find((each) => each.id === id);
    if (!pipeline || !moved || pipeline.filters.indexOf(moved) === to) {
      return;
    }
    const filters = pipeline.filters.filter((each) => each !== moved).toSpliced(to, 0, moved);
    const before = filters.filter(this.isMovable).map((each) => each.id);
    this.pipeline = { ...pipeline, filters };
    this.busy = true;
    try {
      await server.call("POST /api/v1/functions/order", { body: { ids: before } });
      toasts.show({ text: t("Moved. New requests take this order."), kind: "good" });
    } catch (error) {
      toasts.show({ text: (error as Error).message, kind: "bad" });
    }
    this.busy = false;
    await this.choose(this.modelId);
  }
}
