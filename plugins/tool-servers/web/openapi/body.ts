import { type Bag, isBag, toArray, toBag, toText } from "./bag.ts";
import { toFreeKey } from "./keys.ts";
import type { JsonSchema, SchemaReader } from "./schema.ts";

/** How the parameters of a function become the request's body. */
export interface BodyPlan {
  readonly format: "json" | "form" | "multipart" | "text";
  readonly contentType: string;
  /** The one parameter that is the whole body; else the properties name those that make it. */
  readonly whole: string | undefined;
  /** Names of properties in the body by their keys among the parameters. */
  readonly properties: readonly (readonly [key: string, name: string])[];
}

interface PlannedBody {
  readonly plan: BodyPlan;
  readonly required: readonly string[];
}

/** Plans the body and adds its parameters to `parameters`; undefined where there is none that can be sent. */
export function planBody(
  reader: SchemaReader,
  given: unknown,
  parameters: Record<string, JsonSchema | boolean>,
): PlannedBody | undefined {
  const request = reader.resolve(given);
  const content = chooseContent(toBag(request["content"]));
  if (content === undefined) {
    return undefined;
  }
  const schema = reader.read(
    toBag(content.media)["schema"] ?? (content.format === "text" ? { type: "string" } : {}),
  );
  const { format, contentType } = content;
  const flat = toFlatObject(schema);
  if (flat === undefined || format === "text") {
    const key = toFreeKey("body", "request", parameters);
    const words = toText(request["description"]);
    parameters[key] =
      isBag(schema) && words !== "" && schema["description"] === undefined
        ? { ...schema, description: words }
        : schema;
    const plan = { format, contentType, whole: key, properties: [] };
    return { plan, required: request["required"] === true ? [key] : [] };
  }
  const properties = Object.entries(flat.properties).map(([name, property]) => {
    const key = toFreeKey(name, "body", parameters);
    parameters[key] = property as JsonSchema;
    return [key, name] as const;
  });
  const required =
    request["required"] === false ? [] : properties.filter(([, name]) => flat.required.includes(name));
  return {
    plan: { format, contentType, whole: undefined, properties },
    required: required.map(([key]) => key),
  };
}

interface Content {
  readonly format: BodyPlan["format"];
  readonly contentType: string;
  readonly media: unknown;
}

const formats: readonly (readonly [RegExp, BodyPlan["format"]])[] = [
  [/^application\/json\b|\+json\b/i, "json"],
  [/^application\/x-www-form-urlencoded\b/i, "form"],
  [/^multipart\/form-data\b/i, "multipart"],
  [/^text\/|^\*\/\*$/i, "text"],
];

function chooseContent(content: Bag): Content | undefined {
  const types = Object.keys(content);
  for (const [pattern, format] of formats) {
    const type = types.find((each) => pattern.test(each));
    if (type !== undefined) {
      return { format, contentType: type === "*/*" ? "text/plain" : type, media: content[type] };
    }
  }
  return undefined;
}

interface Flat {
  readonly properties: Bag;
  readonly required: readonly string[];
}

/** The properties of an object, those of `allOf` among them; undefined for anything that is more than named properties. */
function toFlatObject(schema: JsonSchema | boolean): Flat | undefined {
  if (typeof schema === "boolean" || schema["$ref"] !== undefined || schema["oneOf"] || schema["anyOf"]) {
    return undefined;
  }
  const parts = toArray(schema["allOf"]).map((part) => toFlatObject(part as JsonSchema));
  if (parts.includes(undefined)) {
    return undefined;
  }
  const all = [
    ...(parts as Flat[]),
    { properties: toBag(schema["properties"]), required: toArray(schema["required"]).map(toText) },
  ];
  const properties = Object.assign({}, ...all.map((part) => part.properties)) as Bag;
  const isOpen = schema["additionalProperties"] === true || isBag(schema["additionalProperties"]);
  return Object.keys(properties).length === 0 || isOpen
    ? undefined
    : { properties, required: all.flatMap((part) => part.required) };
}
