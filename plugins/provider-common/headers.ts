import type { Principal } from "#kernel/access/principal.ts";
import { toHeaderText } from "#kernel/upstream/header-text.ts";
import { createUserHeaders, type Facts, type Headers } from "#kernel/upstream/user-headers.ts";
import type { CommonConfig } from "./config.ts";
import type { Connection } from "./connection.ts";
import { fillHeader, type TemplateFacts } from "./header-template.ts";

/** Builds the headers of calls to providers. */
export interface HeaderBuilder {
  /** Authorisation, the connection's own headers and, when switched on, who asks. */
  build(connection: Connection, facts: Facts | undefined): Headers | Promise<Headers>;
}

export interface HeaderOptions {
  readonly config: CommonConfig;
  /** Names of groups by their ids, in any order. */
  groupNames(ids: readonly string[]): Promise<readonly string[]>;
}

/** Reads settings at the time of use; group names are kept per caller. */
export function createHeaderBuilder({ config, groupNames }: HeaderOptions): HeaderBuilder {
  // A principal is built anew when its groups change; their names are worth half a minute.
  const groups = new WeakMap<Principal, { names: Promise<string>; until: number }>();
  const users = createUserHeaders(config);

  const groupsOf = (principal: Principal): Promise<string> => {
    const known = groups.get(principal);
    if (known && known.until > Date.now()) {
      return known.names;
    }
    const names = groupNames(principal.groupIds).then((list) => list.toSorted().join(","));
    groups.set(principal, { names, until: Date.now() + 30_000 });
    names.catch(() => groups.delete(principal));
    return names;
  };

  return {
    build(connection, facts) {
      if (facts !== undefined && namesGroups(connection)) {
        return groupsOf(facts.principal).then((names) =>
          users.add(toConnectionHeaders(connection, { ...facts, groupNames: names }), facts),
        );
      }
      return users.add(toConnectionHeaders(connection, facts), facts);
    },
  };
}

function namesGroups({ headers }: Connection): boolean {
  return headers.some(([, template]) => template.includes("{{USER_GROUPS}}"));
}

function toConnectionHeaders(connection: Connection, facts: TemplateFacts | undefined): Headers {
  const headers: Headers = { "content-type": "application/json" };
  if (connection.key !== "" && connection.auth === "bearer") {
    if (connection.isAzure) {
      headers["api-key"] = toHeaderText(connection.key);
    } else if (connection.format === "message") {
      headers["x-api-key"] = toHeaderText(connection.key);
    } else {
      headers["authorization"] = `Bearer ${toHeaderText(connection.key)}`;
    }
  }
  for (const [name, template] of connection.headers) {
    // Without a caller (lists of models) the templates have nobody to name.
    headers[name.toLowerCase()] = facts === undefined ? toHeaderText(template) : fillHeader(template, facts);
  }
  return headers;
}
