/** An attribute as `/Schemas` describes it (RFC 7643, 7). The same definitions steer PATCH. */
export interface Attribute {
  readonly name: string;
  readonly type: "string" | "boolean" | "complex" | "reference" | "dateTime" | "integer";
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: "readWrite" | "readOnly" | "immutable";
  readonly returned: "default" | "always";
  readonly uniqueness: "none" | "server";
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

type Facts = Partial<Omit<Attribute, "name" | "type" | "description">>;

/** Defines an attribute; what is not said has the default of RFC 7643, 2.2. */
export function attribute(
  name: string,
  type: Attribute["type"],
  description: string,
  facts: Facts = {},
): Attribute {
  return {
    name,
    type,
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: "readWrite",
    returned: "default",
    uniqueness: "none",
    ...facts,
  };
}

const readOnly = { mutability: "readOnly" } as const;

const externalId = attribute("externalId", "string", "The identity provider's own id", { caseExact: true });

/** The attributes of a user that are stored. */
export const userAttributes: readonly Attribute[] = [
  attribute("userName", "string", "The e-mail address that the person signs in with", {
    required: true,
    uniqueness: "server",
  }),
  attribute("name", "complex", "The parts of the person's name", {
    subAttributes: [
      attribute("formatted", "string", "The whole name"),
      attribute("familyName", "string", "Last name"),
      attribute("givenName", "string", "First name"),
    ],
  }),
  attribute("displayName", "string", "The name that others see"),
  attribute("emails", "complex", "E-mail addresses; without any, the userName stands for one", {
    multiValued: true,
    subAttributes: [
      attribute("value", "string", "The address"),
      attribute("display", "string", "A name for people"),
      attribute("type", "string", "Its use; one without a type counts as work", {
        canonicalValues: ["work", "home", "other"],
      }),
      attribute("primary", "boolean", "Whether it is the preferred address"),
    ],
  }),
  attribute("active", "boolean", "False switches the account off", { required: true }),
  externalId,
  attribute("groups", "complex", "The groups that the person is in", {
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute("value", "string", "Id of the group", { caseExact: true, ...readOnly }),
      attribute("$ref", "reference", "Address of the group", {
        caseExact: true,
        referenceTypes: ["Group"],
        ...readOnly,
      }),
      attribute("display", "string", "Name of the group", readOnly),
      attribute("type", "string", "Always direct", { canonicalValues: ["direct"], ...readOnly }),
    ],
  }),
];

/** The attributes of a group that are stored. */
export const groupAttributes: readonly Attribute[] = [
  attribute("displayName", "string", "Name of the group", { required: true, uniqueness: "server" }),
  attribute("members", "complex", "The accounts in the group", {
    multiValued: true,
    subAttributes: [
      attribute("value", "string", "Id of the user", { caseExact: true, mutability: "immutable" }),
      attribute("$ref", "reference", "Address of the user", {
        caseExact: true,
        referenceTypes: ["User"],
        mutability: "immutable",
      }),
      attribute("display", "string", "Name of the user", readOnly),
      attribute("type", "string", "Always User", { canonicalValues: ["User"], mutability: "immutable" }),
    ],
  }),
  externalId,
];

/** Attributes of the core and enterprise users that are accepted and not kept (contract D.27). */
export const ignoredUserAttributes: ReadonlySet<string> = new Set(
  [
    "nickName profileUrl title userType preferredLanguage locale timezone password phoneNumbers ims photos",
    "addresses entitlements roles x509Certificates",
    "employeeNumber costCenter organization division department manager",
  ]
    .join(" ")
    .toLowerCase()
    .split(" "),
);

/** Parts of a stored name that are accepted and not kept. */
export const ignoredNameParts: ReadonlySet<string> = new Set([
  "middlename",
  "honorificprefix",
  "honorificsuffix",
]);
