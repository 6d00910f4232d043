import { AppError } from "#kernel/errors.ts";
import { defineService } from "#kernel/service.ts";
import type { Principal } from "./principal.ts";

export type Action = "read" | "write";

/** A kind of row that has an owner and may carry access grants. */
export interface Resource<Row> {
  /** The grant's resource_type, e.g. `file`. */
  readonly type: string;
  find(id: string): Promise<Row | undefined>;
  /** The owner's user id; null without an owner. */
  ownerOf(row: Row): string | null;
  /** False where even admins need a grant; then ownership and grants alone decide. */
  readonly adminPasses?: boolean;
  /** A further way in, e.g. a file through the chat that shows it. Asked last. */
  reachable?(principal: Principal, row: Row, action: Action): Promise<boolean>;
  /** The same by the id alone; asked for ids that do not exist as well, so that both take the same time. */
  reachableById?(principal: Principal, id: string, action: Action): Promise<boolean>;
}

/** The only way from an id to a row: a caller that holds the row is authorised. */
export interface Loader<Row> {
  /** Resolves to the row. Throws `not_found` when it may not be read, `forbidden` when it may be read but not written. */
  load(principal: Principal, id: string, action: Action): Promise<Row>;
  /** The row for the caller, or undefined: for lists of ids that may hold foreign ones. */
  find(principal: Principal, id: string, action: Action): Promise<Row | undefined>;
}

/** The part of the grants store that authorisation needs. */
export interface GrantCheck {
  allowed(
    principal: { userId: string | null; groupIds: readonly string[] },
    permission: Action,
    type: string,
    ids: readonly string[],
  ): Promise<Set<string>>;
}

export interface Access {
  loader<Row>(resource: Resource<Row>): Loader<Row>;
  /** True when admins pass without a grant (BYPASS_ADMIN_ACCESS_CONTROL). */
  passes(principal: Principal): boolean;
}

export const access = defineService<Access>("access");

export interface AccessOptions {
  grants: GrantCheck;
  /** BYPASS_ADMIN_ACCESS_CONTROL, read at each check. */
  adminsPass(): boolean;
}

/** Builds the authorising loader. Owners and admins pass; others need a grant or another way in. */
export function createAccess({ grants, adminsPass }: AccessOptions): Access {
  const passes = (principal: Principal) => principal.role === "admin" && adminsPass();

  async function may<Row>(resource: Resource<Row>, request: Request<Row>): Promise<boolean> {
    const { principal, row, id, action } = request;
    if (resource.ownerOf(row) === principal.userId) {
      return true;
    }
    if (resource.adminPasses !== false && passes(principal)) {
      return true;
    }
    if ((await grants.allowed(principal, action, resource.type, [id])).has(id)) {
      return true;
    }
    return (
      (await resource.reachable?.(principal, row, action)) ??
      (await resource.reachableById?.(principal, id, action)) ??
      false
    );
  }

  /** Looks an absent id up as often as a foreign one, so that the time taken does not tell them apart. */
  async function checkAbsent<Row>(
    resource: Resource<Row>,
    { principal, id, action }: Omit<Request<Row>, "row">,
  ): Promise<void> {
    for (const permission of action === "write" ? (["write", "read"] as const) : (["read"] as const)) {
      await grants.allowed(principal, permission, resource.type, [id]);
      await resource.reachableById?.(principal, id, permission);
    }
  }

  return {
    passes,
    loader: (resource) => ({
      async load(principal, id, action) {
        const row = await resource.find(id);
        if (row !== undefined && (await may(resource, { principal, row, id, action }))) {
          return row;
        }
        if (row === undefined) {
          await checkAbsent(resource, { principal, id, action });
        }
        // Only readers learn that the row exists; all others get the answer for an absent one.
        if (
          row !== undefined &&
          action === "write" &&
          (await may(resource, { principal, row, id, action: "read" }))
        ) {
          throw new AppError("forbidden", "You may read this but not change it.");
        }
        throw new AppError("not_found", "Not found");
      },
      async find(principal, id, action) {
        const row = await resource.find(id);
        return row !== undefined && (await may(resource, { principal, row, id, action })) ? row : undefined;
      },
    }),
  };
}

interface Request<Row> {
  principal: Principal;
  row: Row;
  id: string;
  action: Action;
}
