import { setTimeout as pause } from "node:timers/promises";
import type { Authenticator, RequestFacts } from "#kernel/access/authenticator.ts";
import { rememberCredential } from "#kernel/access/credentials.ts";
import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Slot } from "#kernel/service.ts";
import type { AccountChanges } from "../account-changes.ts";
import { findKeyOwner, isApiKey, isAppKey, isGatewayKey } from "../api-keys/api-keys.ts";
import type { AccountsConfig } from "../config.ts";
import { isPathAllowed } from "../api-keys/key-endpoints.ts";
import { toClearedCookies } from "./cookies.ts";
import type { LastSeen } from "./last-seen.ts";
import type { PermissionDefaults } from "../permissions/permissions.ts";
import { type CachedPrincipal, PrincipalCache } from "./principal-cache.ts";
import { type AccountFacts, findAccountFacts, toAppPrincipal, toPrincipal } from "./principals.ts";
import type { AppKeys } from "../users/bots-service.ts";
import { toFactorAccount } from "./sessions.ts";
import type { SecondFactor } from "../second-factor.ts";
import { type SessionTokens, type SessionViewer, unauthenticated } from "./session.ts";
import { isRevoked } from "./revoked-sessions.ts";
import type { AccountsDatabase } from "../tables.ts";
import { toTrustedEmail } from "../sign-in/trusted-header.ts";

export interface AuthenticatorOptions {
  readonly db: AccountsDatabase;
  readonly config: AccountsConfig;
  readonly tokens: SessionTokens;
  readonly permissions: PermissionDefaults;
  readonly changes: AccountChanges;
  readonly lastSeen: LastSeen;
  readonly secondFactor: SecondFactor;
  readonly appKeys: Slot<AppKeys>;
  /** Whether administrators may look with the eyes of others; read at every request. */
  mayView(): boolean;
}

// Changes are announced, so entries need no short life; a minute bounds the harm of an announcement that its sender
// did not live to make, at one look into the database a minute and credential.
const keptMs = 60_000;
const keptCount = 10_000;
const seenEveryMs = 60_000;
const longestCredential = 8192;
/** How long the database may take while announcements are lost, and how long it then counts as away. */
const patienceMs = 1000;
const awayMs = 5000;

/** Creates the one place that turns credentials into principals; a caller seen before costs no query. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const cache = new PrincipalCache(keptCount);
  const loading = new Map<string, Promise<CachedPrincipal>>();
  let awayUntil = 0;
  options.changes.onChange((change) => {
    cache.forget(change);
    // Later requests must not get what was read before the change.
    loading.clear();
  });

  const load = (value: string) => {
    const running = loading.get(value);
    if (running !== undefined) {
      return running;
    }
    const { version } = cache;
    const started = loadCredential(value, options).then((entry) => {
      rememberCredential(entry.principal, value);
      cache.put(value, entry, version);
      return entry;
    });
    loading.set(value, started);
    const done = () => {
      if (loading.get(value) === started) {
        loading.delete(value);
      }
    };
    started.then(done, done);
    return started;
  };

  /** A known caller may have changed unheard; while the database itself is away nobody is turned away for that. */
  const lookAgain = async (value: string, known: CachedPrincipal) => {
    if (Date.now() < awayUntil) {
      return known;
    }
    const found = await Promise.race([load(value), pause(patienceMs, undefined, { ref: false })]).catch(
      (error: unknown) => {
        if (error instanceof AppError && error.code === "unauthenticated") {
          throw error;
        }
      },
    );
    awayUntil = found === undefined ? Date.now() + awayMs : 0;
    return found ?? known;
  };

  return {
    // Registered after the cache's own: what listeners authenticate is read anew.
    onChange: (handler) =>
      options.changes.onChange((change) => handler("jti" in change ? { sessionId: change.jti } : change)),
    keyHeader: () => options.config.keyHeader.toLowerCase(),
    authenticate({ value, source }, request) {
      if (value.length > longestCredential) {
        throw unauthenticated();
      }
      if (isGatewayKey(value)) {
        throw new AppError("forbidden", "A key of the workspace gateway is good at the gateway alone.");
      }
      const now = Date.now();
      const entry = cache.get(value);
      const isKnown = entry !== undefined && entry.validUntil > now;
      if (isKnown && options.changes.isHearing()) {
        return admit(entry, { request, options, now });
      }
      const found = isKnown ? lookAgain(value, entry) : load(value);
      const admitted = found.then((loaded) => admit(loaded, { request, options, now }));
      return source === "cookie"
        ? admitted.catch((error: unknown) => refuseCookie(error, value, options))
        : admitted;
    },
  };
}

/**
 * A token that fails takes its cookies with it (contract 1.1). One that is genuine and whose session was ended leaves
 * them: a late answer would remove the cookie of the session that took its place.
 */
async function refuseCookie(
  error: unknown,
  token: string,
  { tokens, config }: AuthenticatorOptions,
): Promise<never> {
  const isRefused = error instanceof AppError && error.code === "unauthenticated";
  const isGenuine = async () =>
    tokens.verify(token).then(
      () => true,
      () => false,
    );
  if (!isRefused || (await isGenuine())) {
    throw error;
  }
  // Browsers remove a cookie whichever protocol the answer names.
  const cleared = toClearedCookies({ config, protocol: "http" });
  throw new AppError(error.code, error.detail, { cause: error.cause, headers: { "set-cookie": cleared } });
}

interface Admission {
  readonly request: RequestFacts;
  readonly options: AuthenticatorOptions;
  readonly now: number;
}

/** Checks on every use what depends on the request or on live settings. */
function admit(entry: CachedPrincipal, { request, options, now }: Admission): Principal {
  const { principal } = entry;
  if (principal.app !== undefined) {
    // A bot is nobody who was seen, and the rules of people's keys are not those of apps.
    options.appKeys.list().forEach((keys) => keys.require(principal.app?.scopes ?? [], request));
    return principal;
  }
  if (principal.viewer !== undefined) {
    // A view is no sign of life of the account: `lastSeen` leaves it out.
    if (!options.mayView()) {
      throw unauthenticated();
    }
    return principal;
  }
  if (principal.credential === "api_key") {
    requireUsableKey(principal, request, options.config);
  } else if ((toTrustedEmail(options.config, request.proxied) ?? principal.email) !== principal.email) {
    // The person at the proxy is another one by now.
    throw unauthenticated();
  }
  if (!request.isSilent && now - entry.seenAt >= seenEveryMs) {
    entry.seenAt = now;
    options.lastSeen.note(principal.userId, principal.session?.id ?? null);
  }
  return principal;
}

/** Core API, authentication rules 4 and 5; contract D.7. */
function requireUsableKey(principal: Principal, request: RequestFacts, config: AccountsConfig): void {
  if (!config.apiKeys) {
    throw new AppError("forbidden", "API keys are switched off.");
  }
  if (!hasPermission(principal, "features.api_keys")) {
    throw new AppError("forbidden", "Your account may not use API keys.");
  }
  if (config.restrictKeys && !isPathAllowed(request.path, config.keyEndpoints)) {
    throw new AppError("forbidden", "API keys may not be used for this endpoint.");
  }
}

function loadCredential(value: string, options: AuthenticatorOptions): Promise<CachedPrincipal> {
  if (isAppKey(value)) {
    return loadAppKey(value, options);
  }
  return isApiKey(value) ? loadKey(value, options) : loadSession(value, options);
}

async function loadAppKey(key: string, { appKeys }: AuthenticatorOptions): Promise<CachedPrincipal> {
  for (const keys of appKeys.list()) {
    const app = await keys.find(key);
    if (app !== undefined) {
      return { principal: toAppPrincipal(app), validUntil: Date.now() + keptMs, seenAt: 0 };
    }
  }
  throw unauthenticated();
}

async function loadSession(
  token: string,
  { db, tokens, permissions, secondFactor }: AuthenticatorOptions,
): Promise<CachedPrincipal> {
  const claims = await tokens.verify(token);
  const facts = await findAccountFacts(db, claims.id);
  if (facts === undefined || !facts.active || facts.stamp !== claims.session_stamp) {
    throw unauthenticated();
  }
  const viewer = claims.viewer && (await requireViewer(db, claims.viewer, facts));
  // A second factor may be asked for since the session began; a viewer has passed the own one.
  if (
    !viewer &&
    !claims.mfa_verified &&
    secondFactor.isDemanded(toFactorAccount(facts), claims.auth_method)
  ) {
    throw unauthenticated();
  }
  if (await isRevoked(db, claims.jti)) {
    throw unauthenticated();
  }
  const session = { id: claims.jti, expiresAt: claims.exp ?? null };
  const principal = toPrincipal(facts, permissions, {
    credential: "session",
    session,
    ...(viewer && { viewer }),
  });
  const expiresMs = (claims.exp ?? Number.POSITIVE_INFINITY) * 1000;
  return { principal, validUntil: Math.min(Date.now() + keptMs, expiresMs), seenAt: 0 };
}

/** The administrator behind a view, as long as they are one, and the account viewed is none. */
async function requireViewer(
  db: AccountsDatabase,
  { id, stamp }: SessionViewer,
  viewed: AccountFacts,
): Promise<{ id: string; name: string }> {
  const facts = await findAccountFacts(db, id);
  if (!facts?.active || facts.role !== "admin" || facts.stamp !== stamp || viewed.role === "admin") {
    throw unauthenticated();
  }
  return { id, name: facts.name };
}

async function loadKey(key: string, { db, permissions }: AuthenticatorOptions): Promise<CachedPrincipal> {
  const owner = await findKeyOwner(db, key);
  const facts = owner === undefined ? undefined : await findAccountFacts(db, owner);
  if (facts === undefined || !facts.active) {
    throw unauthenticated();
  }
  const principal = toPrincipal(facts, permissions, { credential: "api_key", session: null });
  return { principal, validUntil: Date.now() + keptMs, seenAt: 0 };
}
