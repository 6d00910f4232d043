import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server as platform } from "#plugins/web/kit/server.ts";
import { toArray, toBag, toText } from "../openapi/bag.ts";
import { readDocument } from "../openapi/document.ts";
import { type Operation, toOperations } from "../openapi/operations.ts";
import { toBase } from "../openapi/request.ts";

/** A server that a person keeps and this browser calls (contract §5.2). */
export interface OwnServer {
  readonly url: string;
  readonly path: string;
  readonly auth_type: "none" | "bearer";
  readonly key: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** What a server of one's own offers. */
export interface OwnOffer {
  readonly title: string;
  readonly operations: readonly Operation[];
  readonly base: string;
}

export interface OwnState {
  readonly offer?: OwnOffer;
  readonly failure?: string;
}

const patienceMs = 5000;
const largestDocument = 10 * 1024 * 1024;

/** The person's own tool servers: kept in the settings, read and called by this browser alone. */
class OwnServers {
  list = $state.raw<readonly OwnServer[]>([]);
  states = $state.raw<Readonly<Record<string, OwnState>>>({});
  isLoaded = $state(false);
  #loading: Promise<void> | undefined;

  /** Reads them once, with their documents. */
  load(): Promise<void> {
    this.#loading ??= this.reload().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async reload(): Promise<void> {
    const { ui } = toBag(await platform.call("GET /api/v1/users/user/settings")) as { ui?: unknown };
    this.list = toArray(toBag(ui)["toolServers"]).flatMap((each) => toServer(toBag(each)));
    await Promise.all(this.list.filter(isOn).map((each) => this.ask(each)));
    this.isLoaded = true;
  }

  async ask(own: OwnServer): Promise<void> {
    const state = await readOffer(own).then(
      (offer): OwnState => ({ offer }),
      (error: unknown): OwnState => ({ failure: toFailure(own, error as Error) }),
    );
    this.states = { ...this.states, [own.url]: state };
  }

  async store(list: readonly OwnServer[]): Promise<void> {
    await platform.call("POST /api/v1/users/user/settings/update", { body: { ui: { toolServers: list } } });
    this.list = list;
  }

  /** What a request says of them: functions, and no key. */
  toRequest(): Record<string, unknown>[] {
    return this.list.filter(isOn).flatMap(({ url }) => {
      const offer = this.states[url]?.offer;
      const specs = offer?.operations.map(({ name, description, parameters }) => ({
        name,
        description,
        parameters,
      }));
      return offer && specs ? [{ url, info: { title: offer.title }, specs }] : [];
    });
  }

  /** Where a call of the server that a request named goes. */
  find(url: string, name: string): { own: OwnServer; offer: OwnOffer; operation: Operation } | undefined {
    const own = this.list.find((each) => each.url === url && isOn(each));
    const offer = own && this.states[own.url]?.offer;
    const operation = offer?.operations.find((each) => each.name === name);
    return own && offer && operation && { own, offer, operation };
  }
}

export const ownServers = new OwnServers();

export const isOn = ({ config }: OwnServer): boolean => config["enable"] !== false;

/** Headers that show the server who asks. */
export function toAuthorization({ auth_type: type, key }: OwnServer): Record<string, string> {
  return type === "bearer" && key !== "" ? { authorization: `Bearer ${key}` } : {};
}

function toServer(given: Readonly<Record<string, unknown>>): OwnServer[] {
  const url = toText(given["url"]);
  return /^https?:$/.test(URL.parse(url)?.protocol ?? "")
    ? [
        {
          ...given,
          url,
          path: toText(given["path"]) || "openapi.json",
          auth_type: given["auth_type"] === "none" ? "none" : "bearer",
          key: toText(given["key"]),
          config: toBag(given["config"]),
        },
      ]
    : [];
}

/** Browsers tell nothing but that a request failed, or that its time is over. */
function toFailure({ url }: OwnServer, { name, message }: Error): string {
  const host = URL.parse(url)?.host ?? url;
  if (name === "TimeoutError") {
    return t("Couldn’t reach {host} (timed out after {seconds} s).", { host, seconds: patienceMs / 1000 });
  }
  return name === "TypeError"
    ? t("Couldn’t reach {host}. Check that it runs and allows this page to call it (CORS).", { host })
    : message;
}

async function readOffer(own: OwnServer): Promise<OwnOffer> {
  const place = /^https?:\/\//i.test(own.path)
    ? own.path
    : `${own.url.replace(/(?<!\/)\/+$/, "")}/${own.path.replace(/^\/+/, "")}`;
  const isOwn = URL.parse(place)?.origin === URL.parse(own.url)?.origin;
  // oxlint-disable-next-line no-restricted-globals -- the person's own server is called by the browser, not the platform
  const answer = await fetch(place, {
    credentials: "omit",
    headers: isOwn ? toAuthorization(own) : {},
    signal: AbortSignal.timeout(patienceMs),
  });
  if (!answer.ok) {
    throw new Error(`${place}: ${answer.status}`);
  }
  const text = await answer.text();
  if (text.length > largestDocument) {
    throw new Error(`${place} is too large.`);
  }
  const document = await readDocument(text);
  const title = toText(document.info["title"]) || (URL.parse(own.url)?.host ?? own.url);
  return { title, operations: toOperations(document), base: toBase(own.url, document.server) };
}
