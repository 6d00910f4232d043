import { posix } from "node:path";
import { isDamaged } from "../problem.ts";
import { attribute, readXml } from "../xml.ts";
import type { ZipArchive } from "../../zip/zip.ts";

/** The parts that a part of an Office document refers to, by the id of the relationship. */
export type Relationships = ReadonlyMap<string, { readonly type: string; readonly target: string }>;

/** Reads `_rels` of a part; targets are names of members. */
export function readRelationships(archive: ZipArchive, part: string): Relationships {
  const found = new Map<string, { type: string; target: string }>();
  const bytes = archive.read(`${posix.dirname(part)}/_rels/${posix.basename(part)}.rels`);
  if (bytes === undefined) {
    return found;
  }
  readXml(bytes, {
    open(name, attributes) {
      if (
        name === "Relationship" &&
        attributes.Id &&
        attributes.Target &&
        attributes.TargetMode !== "External"
      ) {
        const target = posix.join(posix.dirname(part), attributes.Target);
        const fromRoot = attributes.Target.startsWith("/") ? attributes.Target.slice(1) : target;
        found.set(attributes.Id, { type: attributes.Type?.split("/").at(-1) ?? "", target: fromRoot });
      }
    },
  });
  return found;
}

/** A part that a document cannot do without. */
export function requirePart(archive: ZipArchive, name: string): Uint8Array {
  const bytes = archive.read(name);
  if (bytes === undefined) {
    throw isDamaged("The document");
  }
  return bytes;
}

export const relationshipOf = (attributes: Readonly<Record<string, string>>) =>
  Object.entries(attributes).find(([name]) => name.includes(":") && name.endsWith(":id"))?.[1] ??
  attribute(attributes, "id");
