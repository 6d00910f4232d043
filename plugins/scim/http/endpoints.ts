import { AppError } from "#kernel/errors.ts";
import type { Method } from "#kernel/http/route.ts";
import { discovery } from "../discovery/discovery.ts";
import { endpoints as paths, type ResourceKind } from "../discovery/urns.ts";
import {
  createGroup,
  getGroup,
  listGroupResources,
  patchGroup,
  removeGroup,
  replaceGroup,
} from "../resources/groups.ts";
import { type Parameters, readSearchBody } from "../resources/list-query.ts";
import { searchAll } from "../resources/search-all.ts";
import { type Projection, readProjection } from "../resources/projection.ts";
import type { Session } from "../resources/session.ts";
import type { State } from "../resources/state.ts";
import {
  createUser,
  getUser,
  listUserResources,
  patchUser,
  removeUser,
  replaceUser,
} from "../resources/users.ts";

/** A call as an endpoint sees it, once the token was checked. */
export interface ScimCall {
  readonly session: Session;
  /** The last segment of a path that ends with `:id`. */
  readonly id: string;
  readonly query: Parameters;
  /** The parsed body; undefined for methods without one. */
  readonly body: unknown;
}

export interface ScimAnswer {
  readonly status: number;
  /** Undefined for none. */
  readonly body: State | undefined;
  /** The absolute address of a resource that was created. */
  readonly location?: string;
}

/** One call that the surface answers. */
export interface Endpoint {
  readonly method: Method;
  /** Below the base. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly hasBody: boolean;
  run(call: ScimCall): Promise<ScimAnswer> | ScimAnswer;
}

interface Operations {
  create(session: Session, body: unknown): Promise<State>;
  get(session: Session, id: string, projection: Projection): Promise<State>;
  replace(session: Session, id: string, body: unknown): Promise<State>;
  patch(
    session: Session,
    id: string,
    how: { body: unknown; projection: Projection },
  ): Promise<State | undefined>;
  remove(session: Session, id: string): Promise<void>;
  list(session: Session, parameters: Parameters): Promise<State>;
}

const operations: Readonly<Record<ResourceKind, Operations>> = {
  User: {
    create: createUser,
    get: getUser,
    replace: replaceUser,
    patch: patchUser,
    remove: removeUser,
    list: listUserResources,
  },
  Group: {
    create: createGroup,
    get: getGroup,
    replace: replaceGroup,
    patch: patchGroup,
    remove: removeGroup,
    list: listGroupResources,
  },
};

/** Every call of the surface (document 2, SCIM). */
export const endpoints: readonly Endpoint[] = [
  ...resourceEndpoints("User", "user"),
  ...resourceEndpoints("Group", "group"),
  {
    method: "POST",
    path: "/.search",
    summary: "List users and groups by the parameters in the body",
    hasBody: true,
    run: async ({ session, body }) => ({ status: 200, body: await searchAll(session, readSearchBody(body)) }),
  },
  ...discoveryEndpoints(),
];

function resourceEndpoints(kind: ResourceKind, word: string): Endpoint[] {
  const { create, get, replace, patch, remove, list } = operations[kind];
  const path = paths[kind];
  const one = `${path}/:id` as const;
  const shown = ({ query }: ScimCall) => readProjection(toFields(query));
  const answer = async (
    call: ScimCall,
    run: (projection: Projection) => Promise<State | undefined>,
  ): Promise<ScimAnswer> => {
    // A wrong projection is refused before anything changes.
    const projection = shown(call);
    const resource = await run(projection);
    return resource === undefined
      ? { status: 204, body: undefined }
      : { status: 200, body: projection.apply(resource) };
  };
  return [
    {
      method: "POST",
      path,
      summary: `Create a ${word}`,
      hasBody: true,
      async run(call) {
        const projection = shown(call);
        const resource = await create(call.session, call.body);
        const { location } = resource["meta"] as { location: string };
        return { status: 201, body: projection.apply(resource), location };
      },
    },
    {
      method: "GET",
      path,
      summary: `List ${word}s by filter, order and page`,
      hasBody: false,
      run: async ({ session, query }) => ({ status: 200, body: await list(session, query) }),
    },
    {
      method: "POST",
      path: `${path}/.search`,
      summary: `List ${word}s by the parameters in the body`,
      hasBody: true,
      run: async ({ session, body }) => ({ status: 200, body: await list(session, readSearchBody(body)) }),
    },
    {
      method: "GET",
      path: one,
      summary: `Get a ${word}`,
      hasBody: false,
      run: (call) => answer(call, (projection) => get(call.session, call.id, projection)),
    },
    {
      method: "PUT",
      path: one,
      summary: `Replace a ${word}`,
      hasBody: true,
      run: (call) => answer(call, () => replace(call.session, call.id, call.body)),
    },
    {
      method: "PATCH",
      path: one,
      summary: `Change a ${word} by operations, all of them or none`,
      hasBody: true,
      run: (call) =>
        answer(call, (projection) => patch(call.session, call.id, { body: call.body, projection })),
    },
    {
      method: "DELETE",
      path: one,
      summary: kind === "User" ? "Deactivate a user and take it out of view" : "Delete a group",
      hasBody: false,
      async run({ session, id }) {
        await remove(session, id);
        return { status: 204, body: undefined };
      },
    },
  ];
}

function discoveryEndpoints(): Endpoint[] {
  const get = (path: `/${string}`, summary: string, read: (base: string, id: string) => State): Endpoint => ({
    method: "GET",
    path,
    summary,
    hasBody: false,
    run({ session, id, query }) {
      // RFC 7644, 4: a client that filters must not take the answer for what fits.
      if (Object.keys(query).some((name) => name.toLowerCase() === "filter")) {
        throw new AppError("forbidden", "filter: what this server offers cannot be filtered.");
      }
      return { status: 200, body: read(session.base, id) };
    },
  });
  return [
    get("/ServiceProviderConfig", "Tell what this server offers", discovery.serviceProviderConfig),
    get("/ResourceTypes", "List the kinds of resources", discovery.resourceTypes),
    get("/ResourceTypes/:id", "Get a kind of resource", discovery.resourceType),
    get("/Schemas", "List the schemas", discovery.schemas),
    get("/Schemas/:id", "Get a schema", discovery.schema),
  ];
}

function toFields(query: Parameters): Map<string, unknown> {
  return new Map(Object.entries(query).map(([name, value]) => [name.toLowerCase(), value]));
}
