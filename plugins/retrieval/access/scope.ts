import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import type { Slot } from "#kernel/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { RetrievalSettings } from "../config.ts";
import type { Collections } from "../index/collections.ts";
import { toPlainScope } from "../search/scope-sql.ts";
import type { CollectionAccess, SearchScope } from "../service.ts";
import { isReserved, requireCollectionName } from "./names.ts";

export interface ScopeParts {
  readonly settings: Pick<RetrievalSettings, "bypassAccess" | "allowUnknown">;
  readonly access: Pick<Access, "passes">;
  readonly files: Pick<Files, "authorize">;
  readonly collections: Collections;
  readonly others: Slot<CollectionAccess>;
}

export interface Scopes {
  /** See `Retrieval.scope`. */
  scope(principal: Principal, named: Partial<SearchScope>): Promise<SearchScope>;
  /** A collection that texts of the principal may be put into, made where it is new. Throws `invalid` and `not_found`. */
  writable(principal: Principal, name: string): Promise<string>;
}

const notFound = () => new AppError("not_found", "Not found");

/** Decides who may search and write what (configuration document, retrieval). */
export function createScopes(parts: ScopeParts): Scopes {
  const { settings, access, files, collections } = parts;

  async function allowed(principal: Principal, names: readonly string[], action: "read" | "write") {
    const found = new Set<string>();
    for (const other of names.length === 0 ? [] : parts.others.list()) {
      for (const name of await other.allowed(principal, names, action)) {
        found.add(name);
      }
    }
    return found;
  }

  async function requireReadable(principal: Principal, names: readonly string[]): Promise<void> {
    const owners = await collections.owners(names);
    const mayUse = await allowed(principal, names, "read");
    const refused = names.filter((name) => {
      const isOwn = owners.get(name) === principal.userId;
      // A name that nothing knows is no secret: there is nothing behind it.
      const isUnknown = !owners.has(name) && !isReserved(name);
      return !isOwn && !mayUse.has(name) && !(isUnknown && settings.allowUnknown);
    });
    if (refused.length > 0) {
      throw notFound();
    }
  }

  /** Names of their own choice are open to administrators, and may hold nothing yet; an id that leads nowhere was deleted. */
  async function requireExisting(principal: Principal, names: readonly string[]): Promise<void> {
    const ids = names.filter(isReserved);
    const owners = await collections.owners(ids);
    const known = await allowed(principal, ids, "read");
    if (ids.some((id) => !owners.has(id) && !known.has(id))) {
      throw new AppError("not_found", "This collection was deleted, or there never was one of this id.");
    }
  }

  return {
    async scope(principal, named) {
      for (const name of named.collections ?? []) {
        requireCollectionName(name);
      }
      const plain = toPlainScope(named);
      if (settings.bypassAccess) {
        return plain;
      }
      for (const id of plain.files) {
        await files.authorize(principal, id, "read");
      }
      await (access.passes(principal)
        ? requireExisting(principal, plain.collections)
        : requireReadable(principal, plain.collections));
      return plain;
    },

    async writable(principal, given) {
      const name = requireCollectionName(given);
      const owner = (await collections.owners([name])).get(name);
      if (owner === principal.userId || (typeof owner === "string" && access.passes(principal))) {
        return name;
      }
      if ((await allowed(principal, [name], "write")).has(name)) {
        await collections.make(name, null);
        return name;
      }
      // An id may be that of a collection the caller cannot see; texts must not get into it.
      if (owner !== undefined || isReserved(name) || !(await collections.make(name, principal.userId))) {
        throw notFound();
      }
      return name;
    },
  };
}
