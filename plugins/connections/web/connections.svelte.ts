import { ApiError } from "#plugins/web/kit/client.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { type Config, type Draft, keyOf, messageProvider, type Stored, toConfig } from "./form/draft.ts";

export type State = Awaited<ReturnType<typeof readStates>>[number];
export type Group = Awaited<ReturnType<typeof readGroups>>[number];
export interface Host {
  readonly url: string;
  readonly idx: number;
}

/** A connection with how it fares. */
export interface Card extends Stored {
  readonly id: string;
  readonly state: State | undefined;
  readonly isEnabled: boolean;
}

const readStates = async (kind: "common" | "runtime", refresh: boolean) =>
  (
    await server.call(`GET /api/v1/configs/connections/${kind}`, {
      query: { refresh: refresh ? "true" : "false" },
    })
  ).data;
const readGroups = async () => await server.call("GET /api/v1/groups");

/** A plugin that is left out answers 404: its part of the page is not shown. */
async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  return await asked.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) {
      return undefined;
    }
    throw error;
  });
}

const readCommon = async () => await ifThere(server.call("GET /compat/config"));
const readRuntime = async () => await ifThere(server.call("GET /runtime/config"));

type Common = Awaited<ReturnType<typeof readCommon>>;
type Runtime = Awaited<ReturnType<typeof readRuntime>>;

/** All configured upstreams, and the only way of this page to change them. */
export class Connections {
  common = $state.raw<Common>();
  runtime = $state.raw<Runtime>();
  groups = $state.raw<readonly Group[]>([]);
  hosts = $state.raw<readonly Host[]>([]);
  isLoaded = $state(false);
  failure = $state<string>();
  #states = $state.raw<Readonly<Record<"common" | "runtime", readonly State[]>>>({ common: [], runtime: [] });
  /** Deleted on this page, while that can be undone. */
  #hidden = $state.raw<readonly string[]>([]);

  cards: readonly Card[] = $derived(
    [...this.#commonCards(), ...this.#runtimeCards()].filter(({ id }) => !this.#hidden.includes(id)),
  );

  async load(refresh = false): Promise<void> {
    try {
      const [common, runtime, groups, hosts] = await Promise.all([
        readCommon(),
        readRuntime(),
        readGroups().catch(() => []),
        ifThere(server.call("GET /api/v1/pipelines/list")),
      ]);
      [this.common, this.runtime, this.groups, this.hosts] = [common, runtime, groups, hosts?.data ?? []];
      await this.observe(refresh);
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
    this.isLoaded = true;
  }

  /** Reads how they fare; `refresh` asks every upstream anew. */
  async observe(refresh = false): Promise<void> {
    const [common, runtime] = await Promise.all([
      this.common ? readStates("common", refresh) : [],
      this.runtime ? readStates("runtime", refresh) : [],
    ]);
    this.#states = { common, runtime };
  }

  /** Stores a draft in the place of `card`, or as a new connection; others are sent back as they are now. */
  async save(draft: Draft, card?: Card): Promise<void> {
    await this.#change(draft.kind, card, (list, at) => {
      requireUnchanged(at === undefined ? undefined : list[at], card);
      const config = toConfig(draft, card);
      const entry = { url: draft.url.trim(), key: keyOf(draft, card), config };
      return at === undefined ? [...list, entry] : list.with(at, entry);
    });
  }

  async switch(card: Card, isOn: boolean): Promise<void> {
    await this.#change(card.kind, card, (list, at = -1) =>
      list.map((entry, index) =>
        index === at ? { ...entry, config: { ...entry.config, enable: isOn } } : entry,
      ),
    );
  }

  async remove(card: Card): Promise<void> {
    await this.#change(card.kind, card, (list, at = -1) => list.toSpliced(at, 1));
  }

  hide({ id }: Card): void {
    this.#hidden = [...this.#hidden, id];
  }

  show({ id }: Card): void {
    this.#hidden = this.#hidden.filter((one) => one !== id);
  }

  /** Switches all connections of a kind. */
  async switchKind(kind: "common" | "runtime", isOn: boolean): Promise<void> {
    if (kind === "common") {
      const { OPENAI_API_BASE_URLS, OPENAI_API_KEYS, OPENAI_API_CONFIGS } = await requireKind(readCommon());
      const body = { ENABLE_OPENAI_API: isOn, OPENAI_API_BASE_URLS, OPENAI_API_KEYS, OPENAI_API_CONFIGS };
      await server.call("POST /compat/config/update", { body });
    } else {
      const { OLLAMA_BASE_URLS, OLLAMA_API_CONFIGS } = await requireKind(readRuntime());
      const body = { ENABLE_OLLAMA_API: isOn, OLLAMA_BASE_URLS, OLLAMA_API_CONFIGS };
      await server.call("POST /runtime/config/update", { body });
    }
    await this.load();
  }

  /** Somebody else may have changed the list meanwhile: the change is made on what is stored now. */
  async #change(kind: Draft["kind"], card: Card | undefined, edit: Edit): Promise<void> {
    if (kind === "runtime") {
      const now = await requireKind(readRuntime());
      const list = now.OLLAMA_BASE_URLS.map((url, index) => {
        const config = (now.OLLAMA_API_CONFIGS[index] ?? {}) as Config;
        return { url, key: "", config };
      });
      const next = await this.#edited(list, card, edit);
      await server.call("POST /runtime/config/update", {
        body: {
          OLLAMA_BASE_URLS: next.map(({ url }) => url),
          OLLAMA_API_CONFIGS: toIndexed(next),
          ...(card === undefined && { ENABLE_OLLAMA_API: true }),
        },
      });
    } else {
      const now = await requireKind(readCommon());
      const list = now.OPENAI_API_BASE_URLS.map((url, index) => ({
        url,
        key: now.OPENAI_API_KEYS[index] ?? "",
        config: (now.OPENAI_API_CONFIGS[index] ?? {}) as Config,
      }));
      const next = await this.#edited(list, card, edit);
      await server.call("POST /compat/config/update", {
        body: {
          OPENAI_API_BASE_URLS: next.map(({ url }) => url),
          OPENAI_API_KEYS: next.map(({ key }) => key),
          OPENAI_API_CONFIGS: toIndexed(next),
          ...(card === undefined && { ENABLE_OPENAI_API: true }),
        },
      });
    }
    await this.load();
  }

  /** What somebody else changed is shown before a second try replaces it. */
  async #edited(list: readonly Entry[], card: Card | undefined, edit: Edit): Promise<readonly Entry[]> {
    try {
      return edit(list, card && findPlace(list, card));
    } catch (error) {
      await this.load();
      throw error;
    }
  }

  #commonCards(): Card[] {
    const {
      OPENAI_API_BASE_URLS: urls = [],
      OPENAI_API_KEYS: keys = [],
      OPENAI_API_CONFIGS: configs = {},
    } = this.common ?? {};
    return urls.map((url, index) => {
      const config = (configs[index] ?? {}) as Config;
      const isMessage =
        config["provider"] === messageProvider || URL.parse(url)?.hostname === "api.anthropic.com";
      return toCard(
        { kind: isMessage ? "message" : "common", index, url, key: keys[index] ?? "", config },
        this.#states.common,
      );
    });
  }

  #runtimeCards(): Card[] {
    const { OLLAMA_BASE_URLS: urls = [], OLLAMA_API_CONFIGS: configs = {} } = this.runtime ?? {};
    return urls.map((url, index) => {
      const config = (configs[index] ?? {}) as Config;
      const key = typeof config["key"] === "string" ? config["key"] : "";
      return toCard({ kind: "runtime", index, url, key, config }, this.#states.runtime);
    });
  }
}

interface Entry {
  readonly url: string;
  readonly key: string;
  readonly config: Config;
}

type Edit = (list: readonly Entry[], at?: number) => readonly Entry[];

function toCard(stored: Stored, states: readonly State[]): Card {
  const { kind, index, url, config } = stored;
  return {
    ...stored,
    id: `${kind === "runtime" ? "runtime" : "common"}:${index}:${url}`,
    state: states.find((state) => state.index === index),
    isEnabled: config["enable"] !== false,
  };
}

/** The place of a card in the list of now. Throws when somebody else took the connection away. */
function findPlace(list: readonly Entry[], { index, url }: Card): number {
  const at = list[index]?.url === url ? index : list.findIndex((entry) => entry.url === url);
  if (at < 0) {
    throw new Error(
      t(
        "Somebody else removed this connection meanwhile. What you typed is still here: copy it, then load the page anew.",
      ),
    );
  }
  return at;
}

/** Throws when the entry of now is not the one that the card was made of, naming what is different. */
function requireUnchanged(now: Entry | undefined, card: Card | undefined): void {
  if (now === undefined || card === undefined) {
    return;
  }
  const names = new Set([...Object.keys(now.config), ...Object.keys(card.config)]);
  const changed = [...names].filter(
    (name) => JSON.stringify(now.config[name]) !== JSON.stringify(card.config[name]),
  );
  if (card.kind !== "runtime" && now.key !== card.key) {
    changed.push("key");
  }
  if (changed.length > 0) {
    throw new Error(
      t("Somebody else changed this connection meanwhile: {fields}. Save again to put yours in its place.", {
        fields: changed.join(", "),
      }),
    );
  }
}

const toIndexed = (list: readonly Entry[]) =>
  Object.fromEntries(list.map(({ config }, index) => [String(index), config]));

async function requireKind<T>(asked: Promise<T | undefined>): Promise<T> {
  const found = await asked;
  if (found === undefined) {
    throw new Error(t("The plugin for these connections is left out of this server."));
  }
  return found;
}
