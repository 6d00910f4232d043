import { AppError } from "#kernel/errors.ts";
import { schemas } from "./schemas.ts";
import { endpoints, type ResourceKind, urns } from "./urns.ts";

type Json = Record<string, unknown>;

/** Most resources of one list; also what `count` is clamped to (contract §11). */
export const maxResults = 100;

/** Puts answers to the questions what this server is; `base` is the absolute address of the surface. */
export interface Discovery {
  serviceProviderConfig(base: string): Json;
  resourceTypes(base: string): Json;
  /** Throws `not_found`. */
  resourceType(base: string, id: string): Json;
  schemas(base: string): Json;
  /** Throws `not_found`. */
  schema(base: string, id: string): Json;
}

/** Creates the discovery answers (RFC 7644, 4). */
export const discovery: Discovery = {
  serviceProviderConfig: (base) => ({
    schemas: [urns.serviceProviderConfig],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description: "The token of SCIM_TOKEN in the header Authorization: Bearer <token>",
        specUri: "https://www.rfc-editor.org/rfc/rfc6750",
        primary: true,
      },
    ],
    meta: meta("ServiceProviderConfig", `${base}/ServiceProviderConfig`),
  }),
  resourceTypes: (base) => toList(kinds.map((kind) => toResourceType(base, kind))),
  resourceType(base, id) {
    const kind = kinds.find((each) => each === id);
    if (kind === undefined) {
      throw new AppError("not_found", `There is no resource type ${id.slice(0, 100)}.`);
    }
    return toResourceType(base, kind);
  },
  schemas: (base) => toList(schemas.map((schema) => toSchema(base, schema))),
  schema(base, id) {
    const schema = schemas.find((each) => each.id.toLowerCase() === id.toLowerCase());
    if (schema === undefined) {
      throw new AppError("not_found", `There is no schema ${id.slice(0, 100)}.`);
    }
    return toSchema(base, schema);
  },
};

const kinds: readonly ResourceKind[] = ["User", "Group"];
const words = { User: "A person's account", Group: "A group of accounts" } as const;

function toResourceType(base: string, kind: ResourceKind): Json {
  return {
    schemas: [urns.resourceType],
    id: kind,
    name: kind,
    description: words[kind],
    endpoint: endpoints[kind],
    schema: kind === "User" ? urns.user : urns.group,
    schemaExtensions: [],
    meta: meta("ResourceType", `${base}/ResourceTypes/${kind}`),
  };
}

function toSchema(base: string, schema: (typeof schemas)[number]): Json {
  return { schemas: [urns.schema], ...schema, meta: meta("Schema", `${base}/Schemas/${schema.id}`) };
}

function meta(resourceType: string, location: string) {
  return { resourceType, location };
}

function toList(resources: readonly Json[]): Json {
  return {
    schemas: [urns.listResponse],
    totalResults: resources.length,
    itemsPerPage: resources.length,
    startIndex: 1,
    Resources: resources,
  };
}
