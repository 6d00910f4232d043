import { SignJWT } from "jose";
import type { Principal } from "#kernel/access/principal.ts";
import type { CallContext } from "#kernel/completion/provider.ts";
import type { CommonConfig } from "./config.ts";
import type { Connection } from "./connection.ts";
import { fillHeader, toHeaderText } from "./header-template.ts";

export type Headers = Record<string, string>;
type Facts = Omit<CallContext, "signal">;

/** Builds the headers of calls to providers. */
export interface HeaderBuilder {
  /** Authorisation, the connection's own headers and, when switched on, who asks. */
  build(connection: Connection, facts: Facts | undefined): Headers | Promise<Headers>;
}

/** Seconds a signed user information is good for. */
const jwtLifetime = 300;

/** Reads settings at the time of use; signed user information is kept per caller for half its life. */
export function createHeaderBuilder(config: CommonConfig): HeaderBuilder {
  const signed = new WeakMap<Principal, { token: Promise<string>; until: number; secret: string }>();

  const tokenOf = (principal: Principal): Promise<string> => {
    const known = signed.get(principal);
    if (known && known.until > Date.now() && known.secret === config.userJwtSecret) {
      return known.token;
    }
    const token = sign(principal, config.userJwtSecret);
    signed.set(principal, { token, until: Date.now() + jwtLifetime * 500, secret: config.userJwtSecret });
    return token;
  };

  return {
    build(connection, facts) {
      const headers = toConnectionHeaders(connection, facts);
      if (!config.forwardUserInfo || facts === undefined) {
        return headers;
      }
      if (config.userJwtSecret === "") {
        return Object.assign(headers, toUserHeaders(config, facts));
      }
      return tokenOf(facts.principal).then((token) =>
        Object.assign(headers, { [config.userJwtHeader]: token }, toSessionHeaders(config, facts)),
      );
    },
  };
}

function toConnectionHeaders(connection: Connection, facts: Facts | undefined): Headers {
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
