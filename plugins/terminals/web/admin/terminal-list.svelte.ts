import { server } from "#plugins/web/kit/server.ts";

const read = async () =>
  (await server.call("GET /api/v1/configs/terminal_servers")).TERMINAL_SERVER_CONNECTIONS;
const readStates = async (refresh: boolean) =>
  (
    await server.call("GET /api/v1/configs/terminal_servers/states", {
      query: { refresh: refresh ? "true" : "false" },
    })
  ).data;

export type Stored = Awaited<ReturnType<typeof read>>[number];
export type State = Awaited<ReturnType<typeof readStates>>[number];

/** The terminal servers, and the only way of this page to change them. */
export class TerminalList {
  entries = $state.raw<readonly Stored[]>();
  states = $state.raw<readonly State[]>([]);
  failure = $state<string>();

  async load(refresh = false): Promise<void> {
    try {
      this.entries = await read();
      this.failure = undefined;
      this.states = await readStates(refresh);
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  stateOf({ id }: Stored): State | undefined {
    return this.states.find((state) => state.id === id);
  }

  /** Stores an entry in the place of `before`, or as a new one; the others are taken as they are stored now. */
  async save(entry: Stored, before?: Stored): Promise<void> {
    await this.#change((now) => {
      const at = before === undefined ? -1 : now.findIndex(({ id }) => id === before.id);
      return at < 0 ? [...now, entry] : now.with(at, entry);
    });
  }

  async remove({ id }: Stored): Promise<void> {
    await this.#change((now) => now.filter((one) => one.id !== id));
  }

  async #change(edit: (now: readonly Stored[]) => readonly Stored[]): Promise<void> {
    // Absent keys of an answer are typed as null, and never are.
    const body = { TERMINAL_SERVER_CONNECTIONS: [...edit(await read())] as never[] };
    await server.call("POST /api/v1/configs/terminal_servers", { body });
    await this.load();
  }
}
