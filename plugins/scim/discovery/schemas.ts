import { attribute, type Attribute, groupAttributes, userAttributes } from "./attributes.ts";
import { urns } from "./urns.ts";

interface SchemaFacts {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

const readOnly = { mutability: "readOnly" } as const;
const required = { ...readOnly, required: true } as const;
const supported = attribute("supported", "boolean", "Whether it is offered", required);
const feature = (name: string, description: string, more: readonly Attribute[] = []) =>
  attribute(name, "complex", description, { ...required, subAttributes: [supported, ...more] });
const amount = (name: string, description: string) => attribute(name, "integer", description, required);

const providerAttributes: readonly Attribute[] = [
  attribute("documentationUri", "reference", "Where people read about it", {
    ...readOnly,
    referenceTypes: ["external"],
  }),
  feature("patch", "PATCH"),
  feature("bulk", "Bulk requests", [
    amount("maxOperations", "Most operations of one request"),
    amount("maxPayloadSize", "Most bytes of one request"),
  ]),
  feature("filter", "Filters", [amount("maxResults", "Most resources of one answer")]),
  feature("changePassword", "Changes of passwords"),
  feature("sort", "Sorting"),
  feature("etag", "Versions of resources"),
  attribute("authenticationSchemes", "complex", "How callers prove who they are", {
    ...required,
    multiValued: true,
    subAttributes: [
      attribute("type", "string", "Kind of the scheme", required),
      attribute("name", "string", "Its name", required),
      attribute("description", "string", "What it is", required),
      attribute("specUri", "reference", "Where it is specified", {
        ...readOnly,
        referenceTypes: ["external"],
      }),
      attribute("primary", "boolean", "Whether it is the preferred one", readOnly),
    ],
  }),
];

const resourceTypeAttributes: readonly Attribute[] = [
  attribute("id", "string", "Id of the resource type", readOnly),
  attribute("name", "string", "Its name", required),
  attribute("description", "string", "What it is", readOnly),
  attribute("endpoint", "reference", "Its path below the base", { ...required, referenceTypes: ["uri"] }),
  attribute("schema", "reference", "Its schema", { ...required, caseExact: true, referenceTypes: ["uri"] }),
  attribute("schemaExtensions", "complex", "Extensions of its schema", {
    ...readOnly,
    multiValued: true,
    subAttributes: [
      attribute("schema", "reference", "Name of the extension", { ...required, referenceTypes: ["uri"] }),
      attribute("required", "boolean", "Whether every resource has it", required),
    ],
  }),
];

const described = (name: string, more: readonly Attribute[] = []) =>
  attribute(name, "complex", "The attributes", {
    ...readOnly,
    multiValued: true,
    subAttributes: [
      attribute("name", "string", "Name of the attribute", { ...required, caseExact: true }),
      attribute("type", "string", "Kind of its values", required),
      attribute("multiValued", "boolean", "Whether it has many values", required),
      attribute("description", "string", "What it is", readOnly),
      attribute("required", "boolean", "Whether it has to be given", readOnly),
      attribute("canonicalValues", "string", "Usual values", { ...readOnly, multiValued: true }),
      attribute("caseExact", "boolean", "Whether case counts", readOnly),
      attribute("mutability", "string", "When it may be written", readOnly),
      attribute("returned", "string", "When it is returned", readOnly),
      attribute("uniqueness", "string", "How unique its values are", readOnly),
      attribute("referenceTypes", "string", "What it may refer to", { ...readOnly, multiValued: true }),
      ...more,
    ],
  });

const schemaAttributes: readonly Attribute[] = [
  attribute("id", "string", "Name of the schema", { ...required, caseExact: true }),
  attribute("name", "string", "Its name for people", readOnly),
  attribute("description", "string", "What it is", readOnly),
  described("attributes", [described("subAttributes")]),
];

/** The schemas of RFC 7643 that this server knows. */
export const schemas: readonly SchemaFacts[] = [
  { id: urns.user, name: "User", description: "A person's account", attributes: userAttributes },
  { id: urns.group, name: "Group", description: "A group of accounts", attributes: groupAttributes },
  {
    id: urns.serviceProviderConfig,
    name: "ServiceProviderConfig",
    description: "What this server offers",
    attributes: providerAttributes,
  },
  {
    id: urns.resourceType,
    name: "ResourceType",
    description: "A kind of resource",
    attributes: resourceTypeAttributes,
  },
  { id: urns.schema, name: "Schema", description: "A schema", attributes: schemaAttributes },
];
