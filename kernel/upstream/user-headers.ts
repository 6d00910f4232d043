import { SignJWT } from "jose";
import type { Values } from "#config/variable.ts";
import type { upstreamVariables } from "#config/core-upstream.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { CallContext } from "#kernel/completion/provider.ts";
import { toHeaderText } from "./header-text.ts";

export type Headers = Record<string, string>;
export type Facts = Omit<CallContext, "signal">;
export type UserHeaderConfig = Values<typeof upstreamVariables>;

/** Tells model providers who asks, where an operator switched that on. */
export interface UserHeaders {
  /** Adds to `headers` and gives them back; nothing for calls of the platform itself. */
  add(headers: Headers, facts: Facts | undefined): Headers | Promise<Headers>;
}

/** Seconds a signed user information is good for. */
const jwtLifetime = 300;

/** Reads settings at the time of use; signed user information is kept per caller. */
export function createUserHeaders(config: UserHeaderConfig): UserHeaders {
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
    add(headers, facts) {
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

function toUserHeaders(config: UserHeaderConfig, facts: Facts): Headers {
  const { principal } = facts;
  return {
    [config.userNameHeader]: encodeURIComponent(principal.name.toWellFormed()),
    [config.userIdHeader]: toHeaderText(principal.userId),
    [config.userEmailHeader]: toHeaderText(principal.email),
    [config.userRoleHeader]: principal.role,
    ...toSessionHeaders(config, facts),
  };
}

function toSessionHeaders(config: UserHeaderConfig, { chatId, messageId }: Facts): Headers {
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
