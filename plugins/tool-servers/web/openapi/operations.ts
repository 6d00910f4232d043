import { type Bag, isBag, toArray, toBag, toText } from "./bag.ts";
import { type BodyPlan, planBody } from "./body.ts";
import type { OpenApiDocument } from "./document.ts";
import { toFreeKey } from "./keys.ts";
import { type JsonSchema, SchemaReader } from "./schema.ts";

/** Where a parameter of a function goes in the request. */
export interface Input {
  /** Its key among the function's parameters. */
  readonly key: string;
  /** Its name in the request. */
  readonly name: string;
  readonly place: "path" | "query" | "header";
  readonly style: string;
  readonly isExploded: boolean;
  readonly isReserved: boolean;
  /** It is sent as JSON text. */
  readonly isJson: boolean;
}

/** One operation of a server as a function. */
export interface Operation {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of all parameters in one object. */
  readonly parameters: JsonSchema;
  readonly method: string;
  readonly path: string;
  readonly inputs: readonly Input[];
  readonly body: BodyPlan | undefined;
  /** Calls change nothing, as the method or the document says. */
  readonly isReadOnly: boolean;
  /** The document says that a person should agree to each call. */
  readonly isConsequential: boolean;
}

const methods = ["get", "put", "post", "delete", "patch", "head", "options"];
const longestDescription = 1024;
/** A model could not choose among more. */
const mostOperations = 500;

/** Headers that no parameter sets: they belong to the transport, or say who asks. */
const reservedHeaders =
  /^(accept|content-type|authorization|cookie|host|content-length|connection|transfer-encoding|upgrade|expect|te|trailer|x-service-.*|x-user-.*|proxy-.*)$/i;

/** The operations of a document as functions with names of their own, in its order. */
export function toOperations(document: OpenApiDocument): Operation[] {
  const found: Operation[] = [];
  const names = new Set<string>();
  for (const [path, given] of Object.entries(document.paths)) {
    const item = new SchemaReader(document).resolve(given);
    for (const method of path.startsWith("/") ? methods : []) {
      const operation = item[method];
      if (isBag(operation) && found.length < mostOperations) {
        const name = toFreeName(toName(operation, method, path), names);
        found.push(toOperation({ document, item, operation, method, path, name }));
      }
    }
  }
  return found;
}

interface Place {
  readonly document: OpenApiDocument;
  readonly item: Bag;
  readonly operation: Bag;
  readonly method: string;
  readonly path: string;
  readonly name: string;
}

function toOperation({ document, item, operation, method, path, name }: Place): Operation {
  const reader = new SchemaReader(document);
  const properties: Record<string, JsonSchema | boolean> = {};
  const required: string[] = [];
  const inputs: Input[] = [];
  for (const parameter of mergeParameters(reader, item, operation)) {
    const input = toInput(parameter, properties);
    if (input === undefined) {
      continue;
    }
    inputs.push(input);
    properties[input.key] = toParameterSchema(reader, parameter, input);
    if (parameter["required"] === true || input.place === "path") {
      required.push(input.key);
    }
  }
  const body = planBody(reader, operation["requestBody"], properties);
  required.push(...(body?.required ?? []));
  return {
    name,
    description: toDescription(item, operation, `${method.toUpperCase()} ${path}`),
    parameters: {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      ...(Object.keys(reader.defs).length > 0 && { $defs: reader.defs }),
    },
    method: method.toUpperCase(),
    path,
    inputs,
    body: body?.plan,
    isReadOnly: isReadOnly(method, operation),
    isConsequential: operation["x-openai-isConsequential"] === true,
  };
}

/** Those of the path with those of the operation, which win. */
function mergeParameters(reader: SchemaReader, item: Bag, operation: Bag): Bag[] {
  const merged = new Map<string, Bag>();
  for (const given of [...toArray(item["parameters"]), ...toArray(operation["parameters"])]) {
    const parameter = reader.resolve(given);
    merged.set(`${toText(parameter["in"])} ${toText(parameter["name"])}`, parameter);
  }
  return [...merged.values()];
}

function toInput(parameter: Bag, taken: Bag): Input | undefined {
  const [name, place] = [toText(parameter["name"]), parameter["in"]];
  if (name === "" || (place !== "path" && place !== "query" && place !== "header")) {
    return undefined;
  }
  if (place === "header" && (reservedHeaders.test(name) || !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))) {
    return undefined;
  }
  const style = toText(parameter["style"]) || (place === "query" ? "form" : "simple");
  return {
    key: toFreeKey(name, place, taken),
    name,
    place,
    style,
    isExploded: typeof parameter["explode"] === "boolean" ? parameter["explode"] : style === "form",
    isReserved: parameter["allowReserved"] === true,
    isJson: parameter["schema"] === undefined && isBag(parameter["content"]),
  };
}

function toParameterSchema(reader: SchemaReader, parameter: Bag, { isJson }: Input): JsonSchema | boolean {
  const given = isJson
    ? toBag(Object.values(toBag(parameter["content"]))[0])["schema"]
    : (parameter["schema"] ?? { type: "string" });
  const schema = reader.read(given);
  const description = toText(parameter["description"]);
  return typeof schema === "object" && description !== "" ? { ...schema, description } : schema;
}

/** The operation's id; where there is none, method and path. */
function toName(operation: Bag, method: string, path: string): string {
  const given = toText(operation["operationId"]) || `${method}${path.replaceAll(/[^A-Za-z0-9_-]+/g, "_")}`;
  const name = given.replaceAll(/[^A-Za-z0-9_-]+/g, "_").replaceAll(/^_+|_+$/g, "");
  return (name || method).slice(0, 60);
}

function toFreeName(name: string, names: Set<string>): string {
  let free = name;
  for (let count = 2; names.has(free); count += 1) {
    free = `${name}_${count}`;
  }
  names.add(free);
  return free;
}

function toDescription(item: Bag, operation: Bag, otherwise: string): string {
  const [summary, description] = [toText(operation["summary"]), toText(operation["description"])];
  const parts = [summary, description === summary ? "" : description].filter((part) => part !== "");
  const words = parts.join("\n\n") || toText(item["summary"]) || toText(item["description"]) || otherwise;
  return words.length > longestDescription ? `${words.slice(0, longestDescription - 1)}…` : words;
}

function isReadOnly(method: string, operation: Bag): boolean {
  if (operation["x-openai-isConsequential"] === true) {
    return false;
  }
  return (
    method === "get" ||
    method === "head" ||
    operation["x-read-only"] === true ||
    operation["x-readonly"] === true
  );
}
