import { SvelteMap } from "svelte/reactivity";
import { server } from "#plugins/web/kit/server.ts";

/** Names of the people and groups that records name by id; an id stands for one that is gone. */
class Names {
  readonly #known = new SvelteMap<string, string>();
  readonly #asked = new Set<string>();

  user(id: string): string {
    if (!this.#asked.has(id)) {
      this.#asked.add(id);
      server.call("GET /api/v1/users/:id", { params: { id } }).then(
        ({ name }) => this.#known.set(id, name),
        () => undefined,
      );
    }
    return this.#known.get(id) ?? id;
  }

  group(id: string): string {
    if (!this.#asked.has("groups")) {
      this.#asked.add("groups");
      server.call("GET /api/v1/groups").then(
        (found) => found.forEach(({ id: key, name }) => this.#known.set(key, name)),
        () => undefined,
      );
    }
    return this.#known.get(id) ?? id;
  }
}

export const names = new Names();
