import type { Grant } from "#plugins/web/kit/access/grants.ts";
import { type Bag, toBag, toText } from "./openapi/bag.ts";

export type ServerType = "openapi" | "mcp";

/** A server as it is stored: its secrets are masked (contract §5.1). */
export type Stored = Bag & {
  readonly url?: string | null | undefined;
  readonly key?: string | null | undefined;
};

export interface HeaderRow {
  readonly id: number;
  name: string;
  value: string;
}

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
  id: string;
  name: string;
  description: string;
  filter: string;
  headers: HeaderRow[];
  access: "admins" | "named";
  grants: readonly Grant[];
}

let lastRow = 0;

/** A row of headers with an identity of its own, so that lists keep what is typed. */
export const toRow = (name = "", value = ""): HeaderRow => ({ id: (lastRow += 1), name, value });

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
  const rows = draft.headers.filter(({ name }) => name.trim() !== "");
  return {
    ...stored,
    type: draft.type,
    url: draft.url.trim(),
    auth_type: draft.authType,
    key: keyOf(draft, stored),
    headers: Object.fromEntries(rows.map(({ name, value }) => [name.trim(), value])),
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
    },
  };
}

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

export type Problems = Partial<Record<"url" | "key" | "spec" | "id" | "headers" | "grants", Problem>>;
export type Problem = "address" | "keyAgain" | "noSpec" | "badId" | "headerName" | "headerValue" | "nobody";

/** What is wrong with the draft, by field; what only the server can know is not among it. */
export function findProblems(draft: Draft, stored?: Stored): Problems {
  const problems: Problems = {};
  if (!/^https?:$/.test(URL.parse(draft.url.trim())?.protocol ?? "")) {
    problems.url = "address";
  }
  const isMoved = stored !== undefined && toPlain(draft.url) !== toPlain(toText(stored.url));
  if (isMoved && toText(stored.key) !== "" && draft.key.trim() === "" && !draft.isKeyRemoved) {
    problems.key = "keyAgain";
  }
  if (draft.type === "openapi" && draft.isTyped && draft.spec.trim() === "") {
    problems.spec = "noSpec";
  }
  if (!/^[A-Za-z0-9_.-]*$/.test(draft.id.trim())) {
    problems.id = "badId";
  }
  if (
    draft.headers.some(({ name }) => name.trim() !== "" && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name.trim()))
  ) {
    problems.headers = "headerName";
  } else if (isMoved && draft.headers.some(({ value }) => value.includes("…"))) {
    problems.headers = "headerValue";
  }
  if (draft.access === "named" && draft.grants.length === 0) {
    problems.grants = "nobody";
  }
  return problems;
}

const toPlain = (url: string) => url.trim().replace(/(?<!\/)\/+$/, "");
