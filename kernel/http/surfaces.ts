/** How a surface writes its errors (contract: every shape stands in `kernel/http/errors.ts`). */
export type ErrorShape = "detail" | "runtime" | "compat" | "both" | "message" | "scim";

export interface SurfaceFacts {
  /** Path prefix; empty for the root. */
  readonly base: string;
  /** The ecosystem's name of the base; answered as well unless ENABLE_ECOSYSTEM_ALIASES is off. */
  readonly alias?: `/${string}`;
  readonly title: string;
  readonly errors: ErrorShape;
  /** A part of the surface that writes its errors in another shape. */
  readonly inner?: { readonly base: `/${string}`; readonly errors: ErrorShape };
  /** True when a docs page and an openapi.json stand below the base while ENV is dev. */
  readonly docs: boolean;
  /** Status for input that does not fit the declared shape. */
  readonly invalidStatus: 400 | 422;
  /** Served on an address and port of its own (slot `ownListeners`), never on the platform's. */
  readonly ownListener?: boolean;
  /** True when JSON bodies of POST requests have to be declared as such. */
  readonly demandsJsonType?: boolean;
}

/** The mount points. Each becomes an application of its own with its own docs and error shape. */
export const surfaces = {
  main: { base: "", title: "Main", errors: "detail", docs: true, invalidStatus: 422 },
  api: { base: "/api/v1", title: "Web interface", errors: "detail", docs: true, invalidStatus: 422 },
  runtime: {
    base: "/runtime",
    alias: "/ollama",
    title: "Local runtime",
    errors: "runtime",
    inner: { base: "/v1", errors: "compat" },
    docs: true,
    invalidStatus: 400,
    // Core API, local model runtime pass-through.
    demandsJsonType: true,
  },
  compat: {
    base: "/compat",
    alias: "/openai",
    title: "Compat",
    errors: "compat",
    docs: true,
    invalidStatus: 400,
  },
  images: { base: "/images/api/v1", title: "Images", errors: "detail", docs: true, invalidStatus: 422 },
  audio: { base: "/audio/api/v1", title: "Audio", errors: "detail", docs: true, invalidStatus: 422 },
  retrieval: {
    base: "/retrieval/api/v1",
    title: "Retrieval",
    errors: "detail",
    docs: true,
    invalidStatus: 422,
  },
  scim: {
    base: "/api/v1/scim/v2",
    title: "Provisioning (SCIM 2.0)",
    errors: "scim",
    // Every address below the base asks for the token, a page of docs too.
    docs: false,
    invalidStatus: 400,
  },
  gateway: {
    base: "",
    title: "Workspace gateway",
    errors: "compat",
    docs: false,
    invalidStatus: 400,
    ownListener: true,
  },
} as const satisfies Record<string, SurfaceFacts>;

export type Surface = keyof typeof surfaces;

/** True when a surface listens on an address of its own. */
export function hasOwnListener(surface: Surface): boolean {
  return (surfaces[surface] as SurfaceFacts).ownListener === true;
}

const aliases = Object.values<SurfaceFacts>(surfaces).flatMap(({ base, alias }) =>
  alias === undefined ? [] : [{ base, alias }],
);

/** True when a URL is a base or stands below it. */
export function isBelow(url: string, base: string): boolean {
  if (!url.startsWith(base)) {
    return false;
  }
  const next = url[base.length];
  return base === "" || next === undefined || next === "/" || next === "?";
}

/** A path or URL with its surface's own base in place of the ecosystem's name of it. */
export function withoutAlias(url: string): string {
  const known = aliases.find(({ alias }) => isBelow(url, alias));
  return known === undefined ? url : known.base + url.slice(known.alias.length);
}
