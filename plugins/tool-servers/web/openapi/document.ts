import { type Bag, isBag, toArray, toBag, toText } from "./bag.ts";

/** A document that cannot be used, in words for whoever set it. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
}

/** A read OpenAPI document. References to other documents are never followed. */
export interface OpenApiDocument {
  readonly version: string;
  readonly info: Bag;
  readonly paths: Bag;
  /** The first of its `servers`, as it is written. */
  readonly server: string;
  /** What a reference inside the document stands for; undefined for all others. */
  resolve(reference: string): unknown;
}

/** Reads a document from JSON or YAML text, or from JSON that was read already. Throws DocumentError. */
export async function readDocument(source: unknown): Promise<OpenApiDocument> {
  // Both are large, and most pages and servers never need them.
  const { $RefParser } = await import("@apidevtools/json-schema-ref-parser");
  const raw = typeof source === "string" ? await parseText(source) : source;
  if (!isBag(raw)) {
    throw new DocumentError("is no OpenAPI document: it is not an object");
  }
  const version = toText(raw["openapi"]);
  if (!/^3\.\d/.test(version)) {
    const found =
      raw["swagger"] === undefined ? "no version" : `Swagger ${String(raw["swagger"]).slice(0, 20)}`;
    throw new DocumentError(`is no OpenAPI 3 document: it states ${version.slice(0, 20) || found}`);
  }
  // Not dereferenced as a whole: a document can be written so that this takes exponentially long.
  const references = await $RefParser
    .resolve(structuredClone(raw) as object, { resolve: { external: false } })
    .catch(() => undefined);
  const resolved = new Map<string, unknown>();
  const resolve = (reference: string): unknown => {
    try {
      return reference.startsWith("#/") ? (references?.get(reference) as unknown) : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    version,
    info: toBag(raw["info"]),
    paths: toBag(raw["paths"]),
    server: toText(toBag(toArray(raw["servers"])[0])["url"]),
    resolve(reference) {
      if (!resolved.has(reference)) {
        resolved.set(reference, resolve(reference));
      }
      return resolved.get(reference);
    },
  };
}

async function parseText(text: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    try {
      const { load } = await import("js-yaml");
      return load(text) as unknown;
    } catch {
      throw new DocumentError("is no OpenAPI document: it is neither JSON nor YAML");
    }
  }
}
