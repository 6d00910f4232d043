import { credentialOf } from "#kernel/access/credentials.ts";
import { fillHeader, type TemplateFacts } from "#kernel/upstream/header-template.ts";
import { toHeaderText } from "#kernel/upstream/header-text.ts";
import type { Facts, Headers, UserHeaders } from "#kernel/upstream/user-headers.ts";
import { type ProviderTokens, requireTokens } from "#plugins/oauth/service.ts";
import type { ToolServerConnection } from "../service.ts";

export interface ServerHeaderOptions {
  readonly users: UserHeaders;
  /** Undefined where nobody signs in through a provider. */
  readonly providerTokens?: ProviderTokens | undefined;
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
export function createServerHeaders({
  users,
  providerTokens,
  groupNames,
}: ServerHeaderOptions): ServerHeaders {
  return {
    async build(connection, facts) {
      const headers: Headers = {};
      const token = await toToken(connection, facts, providerTokens);
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

function toToken(
  { auth_type: type, key }: ToolServerConnection,
  facts: Facts | undefined,
  providerTokens: ProviderTokens | undefined,
): string | Promise<string> | undefined {
  switch (type) {
    case "bearer":
      return key === "" ? undefined : key;
    case "session":
      return facts && credentialOf(facts.principal);
    case "system_oauth":
      return facts && requireTokens(providerTokens).accessToken(facts.principal);
    default:
      return undefined;
  }
}
