import type { App } from "./app.ts";

/** Rows that belong to one account, for the test that reaches for them as another. */
export interface OwnedRows {
  /** Makes one row as its owner; resolves to the path parameters that name it. */
  make(app: App, token: string): Promise<Record<string, string>>;
  /** A valid body for each route that reads one, by `METHOD /path` as declared. */
  readonly bodies: Record<string, unknown>;
  /** Queries of the routes that need one, such as `query=x`, by `METHOD /path` as declared. */
  readonly queries?: Record<string, string>;
  /** Permissions of both accounts, where routes ask for more than members have. */
  readonly permissions?: Readonly<Record<string, Record<string, boolean>>>;
  /** Everything about the row that its owner can see. */
  look(app: App, token: string, params: Record<string, string>): Promise<unknown>;
}
