import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { type Grant, isSame, partiesOf, toSent } from "#plugins/web/kit/access/grants.ts";
import { type Party, readParties } from "#plugins/web/kit/access/people.ts";

/** Grants of one folder: readers and writers. */
export class FolderShare {
  readonly #id: string;
  grants = $state.raw<readonly Grant[]>([]);
  /** The people and groups that the grants name. */
  parties = $state.raw<readonly Party[]>([]);
  state = $state<"loading" | "ready" | "failed">("loading");
  failure = $state<string>();
  /** Said after changes, for readers of screens as well. */
  saved = $state("");

  constructor(id: string) {
    this.#id = id;
  }

  async load(): Promise<void> {
    this.state = "loading";
    try {
      await this.#take(await server.call("GET /api/v1/folders/:id", { params: { id: this.#id } }));
      this.state = "ready";
    } catch (error) {
      this.failure = (error as Error).message;
      this.state = "failed";
    }
  }

  rightOf({ kind, id }: Party): Grant["permission"] {
    const isTheirs = (grant: Grant) => grant.principal_type === kind && grant.principal_id === id;
    return this.grants.some((grant) => isTheirs(grant) && grant.permission === "write") ? "write" : "read";
  }

  /** Stores at once; shows it before the server answers. */
  async setGrants(wanted: readonly Grant[]): Promise<void> {
    const before = this.grants;
    this.grants = wanted;
    this.failure = undefined;
    this.saved = "";
    try {
      await this.#take(
        await server.call("POST /api/v1/folders/:id/access/update", {
          params: { id: this.#id },
          body: { access_grants: toSent(wanted) },
        }),
      );
      if (isSame(wanted, this.grants)) {
        this.saved = t("Saved");
      } else {
        this.failure = t("A part was not saved: you may not share with all of these.");
      }
    } catch (error) {
      this.grants = before;
      this.failure = (error as Error).message;
    }
  }

  async #take({ access_grants: grants }: { access_grants?: unknown }): Promise<void> {
    // The server answers more of each grant than is declared.
    this.grants = toSent((grants ?? []) as Grant[]);
    this.parties = await readParties(partiesOf(this.grants));
  }
}
