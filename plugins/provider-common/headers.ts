import { SignJWT } from "jose";
import type { Principal } from "#kernel/access/principal.ts";
import type { CallContext } from "#kernel/completion/provider.ts";
import type { CommonConfig } from "./config.ts";
import type { Connection } from "./connection.ts";
import { fillHeader, type TemplateFacts, toHeaderText } from "./header-template.ts";

export type Headers = Record<string, string>;
type Facts = Omit<CallContext, "signal">;

/** Builds the headers of calls to providers. */
export interface HeaderBuilder {
  /** Authorisation, the connection's own headers and, when switched on, who asks. */
  build(connection: Connection, facts: Facts | undefined): Headers | Promise<Headers>;
}

/** Seconds a signed user information is good for. */
const jwtLifetime = 300;

export interface HeaderOptions {
  readonly config: CommonConfig;
  /** Names of groups by their ids, in any order. */
  groupNames(ids: readonly string[]): Promise<readonly string[]>;
}

/** Reads settings at the time of use; signed user information and group names are kept per caller. */
export function createHeaderBuilder({ config, groupNames }: HeaderOptions): HeaderBuilder {
  const signed = new WeakMap<Principal, { token: Promise<string>; until: number; secret: string }>();
  // A principal is built anew when its groups change; their names are worth half a minute.
  const groups = new WeakMap<Principal, { names: Promise<string>; until: number }>();

  const tokenOf = (principal: Principal): Promise<string> => {
    const known = signed.get(principal);
    if (known && known.until > Date.now() && known.secret === config.userJwtSecret) {
      return known.token;
    }
    const token = sign(principal, config.userJwtSecret);
    signed.set(principal, { token, until: Date.now() + jwtLifetime * 500, secret: config.userJwtSecret });
    return token;
  };
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
  const addUser = (headers: Headers, facts: Facts | undefined): Headers | Promise<Headers> => {
    if (!config.forwardUserInfo || facts === undefined) {
      return headers;
    }
    if (config.userJwtSecret === "") {
      return Object.assign(headers, toUserHeaders(config, facts));
    }
    return tokenOf(facts.principal).then((token) =>
      Object.assign(headers, { [config.userJwtHeader]: token }, toSessionHeaders(config, facts)),
    );
  };

  return {
    build(connection, facts) {
      if (facts !== undefined && namesGroups(connection)) {
        return groupsOf(facts.principal).then((names) =>
          addUser(toConnectionHeaders(connection, { ...facts, groupNames: names }), facts),
        );
      }
      return addUser(toConnectionHeaders(connection, facts), facts);
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

function toUserHeaders(config: CommonConfig, facts: Facts): Headers {
  const { principal } = facts;
  return {
    [config.userNameHeader]: encodeURIComponent(principal.name.toWellFormed()),
    [config.userIdHeader]: toHeaderText(principal.userId),
    [config.userEmailHeader]: toHeaderText(principal.email),
    [config.userRoleHeader]: principal.role,
    ...toSessionHeaders(config, facts),
  };
}

function toSessionHeaders(config: CommonConfig, { chatId, messageId }: Facts): Headers {
  return {
    ...(chatId && { [config.chatIdHeader]: toHeaderText(chatId) }),
    ...(messageId && { [config.messageIdHeader]: toHeaderText(messageId) }),
  };
}

function sign(principal: Principal, secret: string): Promise<string> {
  const { userId, email, name, role } = principal;
  return new SignJWT({ email, name, role })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(userId)
    .setIssuer("millrace")
    .setIssuedAt()
    .setExpirationTime(`${jwtLifetime}s`)
    .sign(new TextEncoder().encode(secret));
}
