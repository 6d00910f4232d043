import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";

type Order = "created_at" | "updated_at" | "model_id" | "rating" | "username";
export type Rating = Awaited<ReturnType<typeof readPage>>["items"][number];

const readPage = async (query: {
  page: number;
  order_by: Order;
  direction: "asc" | "desc";
  model_id?: string;
}) => await server.call("GET /api/v1/evaluations/feedbacks/list", { query });

/** Everybody's ratings, a page at a time. */
export class Ratings {
  rows = $state.raw<readonly Rating[]>();
  total = $state(0);
  page = $state(1);
  modelId = $state("");
  modelIds = $state.raw<readonly string[]>([]);
  sort = $state.raw<{ by: Order; direction: "asc" | "desc" }>({ by: "updated_at", direction: "desc" });
  failure = $state<string>();

  async load(): Promise<void> {
    try {
      const { items, total } = await readPage({
        page: this.page,
        order_by: this.sort.by,
        direction: this.sort.direction,
        ...(this.modelId === "" ? {} : { model_id: this.modelId }),
      });
      [this.rows, this.total] = [items, total];
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  async loadModels(): Promise<void> {
    // Without the list of models all ratings are shown.
    this.modelIds = await server.call("GET /api/v1/evaluations/feedbacks/models").catch(() => []);
  }

  show(modelId: string): void {
    this.modelId = modelId;
    this.page = 1;
    void this.load();
  }

  sortBy(by: string): void {
    const direction = this.sort.by === by && this.sort.direction === "desc" ? "asc" : "desc";
    this.sort = { by: by as Order, direction };
    this.page = 1;
    void this.load();
  }

  turnTo(page: number): void {
    this.page = page;
    void this.load();
  }

  remove(rating: Rating): void {
    this.rows = this.rows?.filter(({ id }) => id !== rating.id);
    this.total -= 1;
    toasts.undoable({
      text: t("The rating is deleted."),
      title: t("Undo"),
      undo: () => this.load(),
      commit: async () => {
        try {
          await server.call("DELETE /api/v1/evaluations/feedback/:id", { params: { id: rating.id } });
        } catch (error) {
          toasts.fail(error, t("The rating was not deleted."));
          await this.load();
        }
      },
    });
  }
}
