import { credentialOf } from "#kernel/access/credentials.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { toHeaderText } from "#kernel/upstream/header-text.ts";
import { createUserHeaders, type Facts, type Headers } from "#kernel/upstream/user-headers.ts";
import type { CommonConfig } from "../config.ts";
import type { Connection } from "./connection.ts";
import type { EntraTokens } from "./entra.ts";
import { type ProviderTokens, requireTokens } from "#plugins/oauth/service.ts";
import { fillHeader, type TemplateFacts } from "#kernel/upstream/header-template.ts";

/** Builds the headers of calls to providers. */
export interface HeaderBuilder {
  /** Authorisation, the connection's own headers and, when switched on, who asks. */
  build(connection: Connection, facts: Facts | undefined): Headers | Promise<Headers>;
}

export interface HeaderOptions {
  readonly config: CommonConfig;
  readonly entra: EntraTokens;
  /** Undefined where nobody signs in through a provider. */
  readonly providerTokens?: ProviderTokens | undefined;
  /** Names of groups by their ids, in any order. */
  groupNames(ids: readonly string[]): Promise<readonly string[]>;
}

/** Reads settings at the time of use; group names are kept per caller. */
export function createHeaderBuilder({
  config,
  entra,
  providerTokens,
  groupNames,
}: HeaderOptions): HeaderBuilder {
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
      const groupNames =
        facts !== undefined && namesGroups(connection) ? groupsOf(facts.principal) : undefined;
      const token = toToken(connection, facts, { entra, providerTokens });
      const finish = (names: string | undefined, proof: string | undefined) => {
        const known = facts && names !== undefined ? { ...facts, groupNames: names } : facts;
        return users.add(toConnectionHeaders(connection, known, proof), facts);
      };
      return groupNames === undefined && !(token instanceof Promise)
        ? finish(undefined, token)
        : Promise.all([groupNames, token]).then(([names, proof]) => finish(names, proof));
    },
  };
}

/** What shows the upstream who asks; undefined for nothing. */
function toToken(
  { auth, key }: Connection,
  facts: Facts | undefined,
  { entra, providerTokens }: Pick<HeaderOptions, "entra" | "providerTokens">,
): string | Promise<string> | undefined {
  switch (auth) {
    case "bearer":
      return key === "" ? undefined : key;
    case "session":
      // Lists of models are the platform's own to ask for.
      return facts && credentialOf(facts.principal);
    case "provider":
      return facts && requireTokens(providerTokens).accessToken(facts.principal);
    case "entra":
      return entra.token();
    default:
      return undefined;
  }
}

function namesGroups({ headers }: Connection): boolean {
  return headers.some(([, template]) => template.includes("{{USER_GROUPS}}"));
}

function toConnectionHeaders(
  connection: Connection,
  facts: TemplateFacts | undefined,
  token: string | undefined,
): Headers {
  const headers: Headers = { "content-type": "application/json" };
  if (token !== undefined) {
    const isKey = connection.auth === "bearer";
    if (isKey && connection.isAzure) {
      headers["api-key"] = toHeaderText(token);
    } else if (isKey && connection.format === "message") {
      headers["x-api-key"] = toHeaderText(token);
    } else {
      headers["authorization"] = `Bearer ${toHeaderText(token)}`;
    }
  }
  for (const [name, template] of connection.headers) {
    headers[name.toLowerCase()] = fillHeader(template, facts);
  }
  return headers;
}
