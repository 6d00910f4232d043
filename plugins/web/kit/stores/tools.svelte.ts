import { ApiError } from "../client.ts";
import { server } from "../server.ts";

/** A built-in tool that the person may use. */
export type BuiltInTool = Awaited<ReturnType<typeof readBuiltIn>>[number];

/** A workspace tool or a tool server that the person may use; requests name its id in `tool_ids`. */
export interface ListedTool {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly meta?: { readonly description?: unknown; readonly [key: string]: unknown };
  readonly server?: { readonly type: string };
  /** False for a server that wants a sign-in first. */
  readonly authenticated?: boolean;
  /** The functions of a workspace tool. */
  readonly specs?: readonly ToolFunction[];
}

/** A function of a tool, as models see it. */
export interface ToolFunction {
  readonly name: string;
  readonly description: string;
}

/** A terminal that a model may work in. */
export interface Terminal {
  readonly id: string;
  readonly name: string;
}

const readBuiltIn = () => server.call("GET /api/v1/tools/builtin");

/** Routes of plugins that an installation may lack have no types here. */
const optional = server as unknown as {
  call(route: string, given?: { params: Readonly<Record<string, string>> }): Promise<unknown>;
};

/** A list that is empty where nothing serves it; 503 is the answer for terminals that are switched off. */
async function readList<Item>(path: string): Promise<readonly Item[]> {
  try {
    const list = await optional.call(`GET ${path}`);
    return Array.isArray(list) ? (list as Item[]) : [];
  } catch (error) {
    if (error instanceof ApiError && [403, 404, 405, 503].includes(error.status)) {
      return [];
    }
    throw error;
  }
}

/** The tools that the person may use, read once and anew when something needs them fresh. */
class Tools {
  builtIn = $state.raw<readonly BuiltInTool[]>([]);
  listed = $state.raw<readonly ListedTool[]>([]);
  terminals = $state.raw<readonly Terminal[]>([]);
  state = $state<"unread" | "loading" | "ready" | "failed">("unread");
  failure = $state<string>();
  #reading: Promise<void> | undefined;

  /** Features of requests that some tool serves for this person. */
  readonly features = $derived(new Set(this.builtIn.flatMap(({ feature }) => feature ?? [])));

  /** Reads what was not read yet. */
  async load(): Promise<void> {
    await (this.state === "ready" ? undefined : this.refresh());
  }

  async refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async #read(): Promise<void> {
    this.state = this.state === "ready" ? "ready" : "loading";
    try {
      [this.builtIn, this.listed, this.terminals] = await Promise.all([
        readBuiltIn(),
        readList<ListedTool>("/api/v1/tools/"),
        readList<Terminal>("/api/v1/terminals/"),
      ]);
      this.state = "ready";
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
      this.state = "failed";
    }
  }
}

export const tools = new Tools();

/** What people read of a tool below its name. */
export function describe({ description, meta }: ListedTool): string {
  return description ?? (typeof meta?.description === "string" ? meta.description : "");
}
