import type { IncomingHttpHeaders } from "node:http";
import type { Role } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { Email } from "./auth-schema.ts";
import type { AccountsConfig } from "../config.ts";

/** The sender of a request as the proxy in front of the platform names it. */
export interface TrustedIdentity {
  readonly email: string;
  /** Undefined without the header. */
  readonly name: string | undefined;
  readonly role: Role | undefined;
  /** Names of groups. */
  readonly groups: readonly string[] | undefined;
}

type TrustedConfig = Pick<
  AccountsConfig,
  "trustedEmailHeader" | "trustedNameHeader" | "trustedRoleHeader" | "trustedGroupsHeader"
>;

/** True when a proxy signs people in by a header (appendix A6, trusted header). */
export function trustsHeaders({ trustedEmailHeader }: Pick<TrustedConfig, "trustedEmailHeader">): boolean {
  return trustedEmailHeader !== "";
}

/** The address that the proxy names, in lower case; undefined without one. `proxied` are a trusted proxy's headers. */
export function toTrustedEmail(
  { trustedEmailHeader }: Pick<TrustedConfig, "trustedEmailHeader">,
  proxied: IncomingHttpHeaders | undefined,
): string | undefined {
  return trustedEmailHeader === "" ? undefined : find(proxied, trustedEmailHeader)?.toLowerCase();
}

/** Reads the headers of the proxy. Throws `invalid` naming the header that is missing or makes no sense. */
export function readTrustedIdentity(
  config: TrustedConfig,
  proxied: IncomingHttpHeaders | undefined,
): TrustedIdentity {
  const address = toTrustedEmail(config, proxied);
  if (address === undefined) {
    throw new AppError(
      "invalid",
      `Sign-in goes through the proxy in front of this service, and it sent no ${config.trustedEmailHeader}.`,
    );
  }
  const email = Email.safeParse(address);
  if (!email.success) {
    throw new AppError("invalid", `The header ${config.trustedEmailHeader} holds no e-mail address.`);
  }
  const name = find(proxied, config.trustedNameHeader);
  const role = find(proxied, config.trustedRoleHeader)?.toLowerCase();
  return {
    email: email.data,
    name: name && decode(name),
    role: role === undefined ? undefined : toRole(role, config.trustedRoleHeader),
    groups: toGroups(config.trustedGroupsHeader, proxied),
  };
}

const roles: readonly string[] = ["admin", "user", "pending"] satisfies Role[];

function toRole(role: string, header: string): Role {
  if (!roles.includes(role)) {
    throw new AppError("invalid", `The header ${header} must be one of ${roles.join(", ")}.`);
  }
  return role as Role;
}

/** An empty list takes everybody out of every group; a header that is missing changes nothing. */
function toGroups(header: string, proxied: IncomingHttpHeaders | undefined): string[] | undefined {
  const value = header === "" ? undefined : proxied?.[header.toLowerCase()];
  if (value === undefined) {
    return undefined;
  }
  const names = String(value).split(",");
  return names.map((name) => decode(name.trim())).filter((name) => name !== "");
}

function find(proxied: IncomingHttpHeaders | undefined, header: string): string | undefined {
  const value = header === "" ? undefined : proxied?.[header.toLowerCase()];
  return (Array.isArray(value) ? value[0] : value)?.trim() || undefined;
}

/** Header values are ASCII, so proxies encode names of people like parts of an address. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
