import type { Grant } from "#plugins/web/kit/access/grants.ts";
import {
  findHeaderProblem,
  type HeaderProblem,
  type HeaderRow,
  toHeaders,
  toRow,
} from "#plugins/web/kit/upstream/header-rows.ts";
import { type Bag, toBag, toText } from "./openapi/bag.ts";

export type ServerType = "openapi" | "mcp";

/** A server as it is stored: its secrets are masked (contract §5.1). */
export type Stored = Bag & {
  readonly url?: string | null | undefined;
  readonly key?: string | null | undefined;
};

/** A server while it is being written. */
export interface Draft {
  type: ServerType;
  url: string;
  path: string;
  /** The document itself instead of an address. */
  isTyped: boolean;
  spec: string;
  authType: string;
  /** What was typed; empty keeps the stored one. */
  key: string;
  isKeyRemoved: boolean;
  /** Of a client that is registered with the authorization server already. */
  clientId: string;
  /** What was typed; empty for a public client, or for the stored one while its id stays. */
  clientSecret: string;
  /** The authorization server where the server itself names none. */
  signInUrl: string;
  id: string;
  name: string;
  description: string;
  filter: string;
  headers: HeaderRow[];
  access: "admins" | "named";
  grants: readonly Grant[];
}

/** What the form begins with. */
export function toDraft(stored?: Stored): Draft {
  const [config, info] = [toBag(stored?.["config"]), toBag(stored?.["info"])];
  const grants = Array.isArray(config["access_grants"]) ? (config["access_grants"] as Grant[]) : [];
  const filter = config["function_name_filter_list"];
  return {
    type: stored?.["type"] === "mcp" ? "mcp" : "openapi",
    url: toText(stored?.url),
    path: toText(stored?.["path"]) || "openapi.json",
    isTyped: stored?.["spec_type"] === "json",
    spec:
      typeof stored?.["spec"] === "string"
        ? stored["spec"]
        : stored?.["spec"]
          ? JSON.stringify(stored["spec"], null, 2)
          : "",
    authType: toText(stored?.["auth_type"]) || (stored ? "none" : "bearer"),
    key: "",
    isKeyRemoved: false,
    clientId: toText(info["oauth_client_id"]),
    clientSecret: "",
    signInUrl: toText(info["oauth_server_url"]),
    id: toText(info["id"]),
    name: toText(info["name"]),
    description: toText(info["description"]),
    filter: Array.isArray(filter) ? filter.join(", ") : toText(filter),
    headers: Object.entries(toBag(stored?.["headers"])).map(([name, value]) => toRow(name, toText(value))),
    access: grants.length === 0 ? "admins" : "named",
    grants,
  };
}

/** The server that the draft means, over the one that is stored; keys that the form does not know are kept. */
export function toServer(draft: Draft, stored: Stored | undefined, taken: readonly string[]): Bag {
  return {
    ...stored,
    type: draft.type,
    url: draft.url.trim(),
    auth_type: draft.authType,
    key: keyOf(draft, stored),
    headers: toHeaders(draft.headers),
    ...(draft.type === "openapi" && {
      path: draft.path.trim(),
      spec_type: draft.isTyped ? "json" : "url",
      spec: draft.isTyped ? draft.spec : "",
    }),
    config: {
      enable: true,
      ...toBag(stored?.["config"]),
      access_grants: draft.access === "admins" ? [] : [...draft.grants],
      function_name_filter_list: draft.filter.trim(),
    },
    info: {
      ...toBag(stored?.["info"]),
      // A place in the list would change with the list; people choose servers by their id.
      id: draft.id.trim() || toFreeId(draft, taken),
      name: draft.name.trim(),
      description: draft.description.trim(),
      ...(draft.authType.startsWith("oauth") && { oauth_server_url: draft.signInUrl.trim() }),
    },
  };
}

/** Whether the client was typed anew, so that it has to be encrypted before the server is stored. */
export function hasNewClient(draft: Draft, stored?: Stored): boolean {
  const info = toBag(stored?.["info"]);
  const isStored =
    toText(info["oauth_client_info"]) !== "" && draft.clientId.trim() === toText(info["oauth_client_id"]);
  return (
    draft.authType === staticSignIn && (!isStored || draft.clientSecret !== "" || isMoved(draft, stored))
  );
}

const staticSignIn = "oauth_2.1_static";

function toFreeId({ name, url }: Draft, taken: readonly string[]): string {
  const words = name.trim() || (URL.parse(url.trim())?.hostname ?? "");
  const base =
    words
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, 60) || "server";
  let id = base;
  for (let count = 2; taken.includes(id); count += 1) {
    id = `${base}-${count}`;
  }
  return id;
}

/** What was typed, else what is stored: its mask stands for it. */
export function keyOf({ key, isKeyRemoved }: Draft, stored?: Stored): string {
  return key.trim() || (isKeyRemoved ? "" : toText(stored?.key));
}

export type Problems = Partial<
  Record<"url" | "key" | "client" | "signInUrl" | "spec" | "id" | "headers" | "grants", Problem>
>;
export type Problem = HeaderProblem | "address" | "keyAgain" | "noClient" | "noSpec" | "badId" | "nobody";

/** What is wrong with the draft, by field; what only the server can know is not among it. */
export function findProblems(draft: Draft, stored?: Stored): Problems {
  const problems: Problems = {};
  if (!isAddress(draft.url.trim())) {
    problems.url = "address";
  }
  if (draft.authType === staticSignIn && draft.clientId.trim() === "") {
    problems.client = "noClient";
  }
  const signInUrl = draft.authType.startsWith("oauth") ? draft.signInUrl.trim() : "";
  if (signInUrl !== "" && !isAddress(signInUrl)) {
    problems.signInUrl = "address";
  }
  const hasMoved = isMoved(draft, stored);
  if (hasMoved && toText(stored?.key) !== "" && draft.key.trim() === "" && !draft.isKeyRemoved) {
    problems.key = "keyAgain";
  }
  if (draft.type === "openapi" && draft.isTyped && draft.spec.trim() === "") {
    problems.spec = "noSpec";
  }
  if (!/^[A-Za-z0-9_.-]*$/.test(draft.id.trim())) {
    problems.id = "badId";
  }
  const headers = findHeaderProblem(draft.headers, hasMoved);
  if (headers !== undefined) {
    problems.headers = headers;
  }
  if (draft.access === "named" && draft.grants.length === 0) {
    problems.grants = "nobody";
  }
  return problems;
}

function isMoved({ url }: Draft, stored: Stored | undefined): boolean {
  return stored !== undefined && toPlain(url) !== toPlain(toText(stored.url));
}

const isAddress = (url: string) => /^https?:$/.test(URL.parse(url)?.protocol ?? "");
const toPlain = (url: string) => url.trim().replace(/(?<!\/)\/+$/, "");
