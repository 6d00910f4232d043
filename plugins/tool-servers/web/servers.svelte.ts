import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { type Draft, hasNewClient, type Stored, toServer } from "./draft.ts";
import { type Bag, toArray, toBag, toText } from "./openapi/bag.ts";

const readServers = async () =>
  (await server.call("GET /api/v1/configs/tool_servers")).TOOL_SERVER_CONNECTIONS;
const readStates = async (refresh: "true" | "false" | "unknown") =>
  (await server.call("GET /api/v1/configs/tool_servers/states", { query: { refresh } })).data;

export type State = Awaited<ReturnType<typeof readStates>>[number];

/** A server with how it fares. */
export interface Card {
  readonly key: string;
  readonly index: number;
  readonly stored: Stored;
  readonly state: State | undefined;
  readonly isEnabled: boolean;
  readonly name: string;
}

/** A function as a server describes it. */
export interface Spec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Bag;
}

/** What a try of a server found. */
export interface Found {
  readonly title: string;
  readonly specs: readonly Spec[];
  /** Each person signs in to it, so nobody else can see its functions. */
  readonly wantsSignIn: boolean;
}

/** All tool servers, and the only way of this page to change them. */
export class Servers {
  isLoaded = $state(false);
  failure = $state<string>();
  /** Servers of which nothing is known are asked just now. */
  isAsking = $state(false);
  #stored = $state.raw<readonly Stored[]>([]);
  #states = $state.raw<readonly State[]>([]);
  /** Deleted on this page, while that can be undone. */
  #hidden = $state.raw<readonly string[]>([]);

  cards: readonly Card[] = $derived(
    this.#stored
      .map((stored, index) => toCard(stored, index, this.#states[index]))
      .filter(({ key }) => !this.#hidden.includes(key)),
  );

  async load(refresh = false): Promise<void> {
    try {
      this.#stored = (await readServers()) as readonly Stored[];
      await this.observe(refresh);
      this.failure = undefined;
      if (!refresh && this.#states.some(({ state }) => state === "unknown")) {
        // One that was just saved, or a server that has just started: neither the list nor others that are slow are waited for.
        this.isAsking = true;
        void readStates("unknown")
          .then((states) => (this.#states = states))
          .catch(() => undefined)
          .finally(() => (this.isAsking = false));
      }
    } catch (error) {
      this.failure = (error as Error).message;
    }
    this.isLoaded = true;
  }

  /** Reads how they fare; `refresh` asks every server anew. */
  async observe(refresh = false): Promise<void> {
    this.#states = await readStates(refresh ? "true" : "false");
  }

  /** Tries a draft; nothing is stored. */
  async verify(draft: Draft, card?: Card): Promise<Found> {
    return await this.#find(toServer(draft, card?.stored, []));
  }

  /** The functions of a stored server with the shapes of their parameters. */
  async describe({ stored }: Card): Promise<Found> {
    return await this.#find(stored);
  }

  async save(draft: Draft, card?: Card): Promise<void> {
    const client = hasNewClient(draft, card?.stored) ? await this.#sealClient(draft) : undefined;
    await this.#change(card, (list, at) => {
      const ids = list.flatMap(({ info }, index) => (index === at ? [] : toText(toBag(info)["id"])));
      const made = toServer(draft, at === undefined ? undefined : list[at], ids);
      const next = client ? { ...made, info: { ...toBag(made["info"]), ...client } } : made;
      return at === undefined ? [...list, next] : list.with(at, next);
    });
  }

  async switch(card: Card, isOn: boolean): Promise<void> {
    await this.#change(card, (list, at = -1) =>
      list.map((each, index) =>
        index === at ? { ...each, config: { ...toBag(each["config"]), enable: isOn } } : each,
      ),
    );
  }

  async remove(card: Card): Promise<void> {
    await this.#change(card, (list, at = -1) => list.toSpliced(at, 1));
  }

  hide({ key }: Card): void {
    this.#hidden = [...this.#hidden, key];
  }

  show({ key }: Card): void {
    this.#hidden = this.#hidden.filter((each) => each !== key);
  }

  /** The client as it is stored: its secret is encrypted, and only for this address. */
  async #sealClient({ url, clientId, clientSecret, signInUrl }: Draft): Promise<Bag> {
    const { oauth_client_info: sealed } = await server.call("POST /api/v1/configs/oauth/clients/register", {
      query: { type: "mcp" },
      body: {
        url: url.trim(),
        auth_type: "oauth_2.1_static",
        client_id: clientId.trim(),
        ...(clientSecret !== "" && { client_secret: clientSecret }),
        ...(signInUrl.trim() !== "" && { oauth_server_url: signInUrl.trim() }),
      },
    });
    return { oauth_client_info: sealed, oauth_client_id: clientId.trim() };
  }

  async #find(body: Bag): Promise<Found> {
    const answer = await server.call("POST /api/v1/configs/tool_servers/verify", { body });
    return {
      title: toText(toBag(answer["info"])["title"]),
      specs: toArray(answer["specs"])
        .map((each) => toBag(each))
        .map(toSpec),
      wantsSignIn: answer["oauth_server_metadata"] !== undefined,
    };
  }

  /** Somebody else may have changed the list meanwhile: the change is made on what is stored now. */
  async #change(
    card: Card | undefined,
    edit: (list: readonly Stored[], at?: number) => readonly Bag[],
  ): Promise<void> {
    const list = (await readServers()) as readonly Stored[];
    const at = card && findPlace(list, card);
    const body = { TOOL_SERVER_CONNECTIONS: edit(list, at) as never };
    await server.call("POST /api/v1/configs/tool_servers", { body });
    await this.load();
  }
}

function toSpec(spec: Bag): Spec {
  return {
    name: toText(spec["name"]),
    description: toText(spec["description"]),
    parameters: toBag(spec["parameters"]),
  };
}

function toCard(stored: Stored, index: number, state: State | undefined): Card {
  const host = URL.parse(toText(stored.url))?.host;
  const isEnabled = toBag(stored["config"])["enable"] !== false;
  const name = toText(toBag(stored["info"])["name"]) || host || t("No address");
  return { key: keyOf(stored, index), index, stored, state, isEnabled, name };
}

const keyOf = (stored: Stored, index: number) =>
  toText(toBag(stored["info"])["id"]) || `${index}:${toText(stored.url)}`;

/** The place of a card in the list of now. Throws when somebody else took the server away. */
function findPlace(list: readonly Stored[], card: Card): number {
  const at = list.findIndex((stored, index) => keyOf(stored, index) === card.key);
  if (at < 0) {
    throw new Error(
      t(
        "Somebody else removed this server meanwhile. What you typed is still here: copy it, then load the page anew.",
      ),
    );
  }
  return at;
}
