import { server } from "#plugins/web/kit/server.ts";
import type { ListedAccount, Sort } from "./account.ts";

/** Which accounts are shown: search, order and page. */
interface View {
  readonly query: string;
  readonly by: Sort;
  readonly direction: "asc" | "desc";
  readonly page: number;
}

const first: View = { query: "", by: "created_at", direction: "desc", page: 1 };

/** One page of the accounts. It outlives the page that shows it, so that coming back shows the same place. */
class UsersList {
  view = $state.raw<View>(first);
  rows = $state.raw<readonly ListedAccount[]>();
  total = $state(0);
  failure = $state<string>();
  #latest = 0;

  /** Shows another part; rows of now stay until those of then are there. */
  async show(changes: Partial<View> = {}): Promise<void> {
    this.view = { ...this.view, ...changes };
    const call = (this.#latest += 1);
    const { query, by, direction, page } = this.view;
    try {
      const { users, total } = await server.call("GET /api/v1/users", {
        query: { ...(query === "" ? {} : { query }), order_by: by, direction, page: String(page) },
      });
      if (call === this.#latest) {
        this.rows = users;
        this.total = total;
        this.failure = undefined;
      }
    } catch (error) {
      if (call === this.#latest) {
        this.failure = (error as Error).message;
      }
    }
  }

  sort(by: Sort): Promise<void> {
    const direction = this.view.by === by && this.view.direction === "asc" ? "desc" : "asc";
    return this.show({ by, direction, page: 1 });
  }
}

export const usersList = new UsersList();
