const core = "urn:ietf:params:scim:schemas:core:2.0";
const messages = "urn:ietf:params:scim:api:messages:2.0";

/** The names of RFC 7643 and RFC 7644 that stand in `schemas`. */
export const urns = {
  user: `${core}:User`,
  group: `${core}:Group`,
  enterpriseUser: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
  resourceType: `${core}:ResourceType`,
  schema: `${core}:Schema`,
  serviceProviderConfig: `${core}:ServiceProviderConfig`,
  listResponse: `${messages}:ListResponse`,
  patchOp: `${messages}:PatchOp`,
  searchRequest: `${messages}:SearchRequest`,
} as const;

export type ResourceKind = "User" | "Group";

/** Path of a kind of resource below the base. */
export const endpoints: Readonly<Record<ResourceKind, `/${string}`>> = { User: "/Users", Group: "/Groups" };
