import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineService } from "#kernel/service.ts";

/** Tokens of people's own sign-ins through a provider; connections and tool servers of type system_oauth show them. */
export interface ProviderTokens {
  /** Renewed where it ends. Throws `unauthenticated` for people who have no such sign-in, or none that goes on. */
  accessToken(principal: Principal): Promise<string>;
}

export const providerTokens = defineService<ProviderTokens>("oauth.tokens");

/** Throws `unavailable` where the plugin is left out. */
export function requireTokens(tokens: ProviderTokens | undefined): ProviderTokens {
  if (tokens === undefined) {
    throw new AppError(
      "unavailable",
      "This needs a sign-in through a provider, which this server does not offer.",
    );
  }
  return tokens;
}
