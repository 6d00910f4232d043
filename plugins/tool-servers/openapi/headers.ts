import { credentialOf } from "#kernel/access/credentials.ts";
import { AppError } from "#kernel/errors.ts";
import { fillHeader, type TemplateFacts } from "#kernel/upstream/header-template.ts";
import { toHeaderText } from "#kernel/upstream/header-text.ts";
import type { Facts, Headers, UserHeaders } from "#kernel/upstream/user-headers.ts";
import type { ToolServerConnection } from "../service.ts";

export interface ServerHeaderOptions {
  readonly users: UserHeaders;
  /** Names of groups by their ids, in any order. */
  groupNames(ids: readonly string[]): Promise<readonly string[]>;
}

/** Builds the headers of calls to tool servers. */
export interface ServerHeaders {
  /**
   * Who asks, the server's key or the caller's own credential, and the server's own headers (contract §5.4). Without
   * facts the platform itself asks. Throws `forbidden` where the caller has nothing to show.
   */
  build(connection: ToolServerConnection, facts: Facts | undefined): Promise<Headers>;
}

/** Builds them anew for each call: nothing of one caller reaches another. */
export function createServerHeaders({ users, groupNames }: ServerHeaderOptions): ServerHeaders {
  return {
    async build(connection, facts) {
      const headers: Headers = {};
      const token = toToken(connection, facts);
      if (token !== undefined) {
        headers["authorization"] = `Bearer ${toHeaderText(token)}`;
      }
      const { headerTemplates } = connection;
      const namesGroups = headerTemplates.some(([, template]) => template.includes("{{USER_GROUPS}}"));
      const names = facts && namesGroups ? await groupNames(facts.principal.groupIds) : [];
      const filling: TemplateFacts | undefined = facts && {
        ...facts,
        groupNames: names.toSorted().join(","),
      };
      for (const [name, template] of headerTemplates) {
        headers[name.toLowerCase()] = fillHeader(template, filling);
      }
      return await users.add(headers, facts);
    },
  };
}

/** Said wherever a server wants the token of a sign-in that this platform does not have. */
export const noSignIn =
  "it wants the token of a sign-in by another provider (auth_type system_oauth), which this server does not offer; use bearer, session or none";

function toToken(
  { auth_type: type, key, name }: ToolServerConnection,
  facts: Facts | undefined,
): string | undefined {
  switch (type) {
    case "bearer":
      return key === "" ? undefined : key;
    case "session":
      return facts && credentialOf(facts.principal);
    case "system_oauth":
      throw new AppError("forbidden", `"${name}" cannot be called: ${noSignIn}.`);
    default:
      return undefined;
  }
}
