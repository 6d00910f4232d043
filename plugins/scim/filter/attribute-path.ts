import { ignoredNameParts, ignoredUserAttributes } from "../discovery/attributes.ts";
import { type ResourceKind, urns } from "../discovery/urns.ts";

/** An attribute as a client named it, in lower case and without the name of its schema. */
export interface AttributePath {
  readonly name: string;
  readonly part?: string;
}

const shape = /^\$?[a-z][a-z0-9_$-]*$/;

/** Reads `name`, `name.part` and both behind the name of a schema; `ignored` for what is known and not kept. */
export function readAttributePath(kind: ResourceKind, text: string): AttributePath | "ignored" | undefined {
  const lower = text.toLowerCase();
  const core = `${(kind === "User" ? urns.user : urns.group).toLowerCase()}:`;
  const enterprise = urns.enterpriseUser.toLowerCase();
  if (kind === "User" && (lower === enterprise || lower.startsWith(`${enterprise}:`))) {
    return "ignored";
  }
  const path = lower.startsWith(core) ? lower.slice(core.length) : lower;
  const [name = "", part, ...rest] = path.split(".");
  if (rest.length > 0 && !(kind === "User" && ignoredUserAttributes.has(name))) {
    return undefined;
  }
  if (!shape.test(name) || (part !== undefined && !shape.test(part))) {
    return undefined;
  }
  return isIgnored(kind, name, part) ? "ignored" : { name, ...(part !== undefined && { part }) };
}

function isIgnored(kind: ResourceKind, name: string, part: string | undefined): boolean {
  return (
    kind === "User" &&
    (ignoredUserAttributes.has(name) || (name === "name" && part !== undefined && ignoredNameParts.has(part)))
  );
}
