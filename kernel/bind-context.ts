import type { CoreConfig } from "#config/core.ts";
import type { Database } from "#storage/database.ts";
import { createIdempotencyStore } from "#storage/idempotency-store.ts";
import { authenticator, type Authenticator } from "./access/authenticator.ts";
import type { BindContext } from "./http/bind.ts";
import { createClientAddress } from "./http/forwarded.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { createOpenAnswers } from "./http/open-answers.ts";
import type { Disk } from "./disk.ts";
import type { Logger } from "./log.ts";
import { BootError } from "./order.ts";
import type { RecentErrors } from "./recent-errors.ts";

export interface BindContextOptions {
  readonly config: CoreConfig;
  readonly database: Database;
  readonly log: Logger;
  readonly services: ReadonlyMap<string, unknown>;
  readonly errors: RecentErrors;
  readonly disk: Pick<Disk, "problem">;
  onMismatch?: ((route: string, problem: string) => void) | undefined;
}

/** What the binder needs of settings and services. Throws BootError when nothing authenticates. */
export function toBindContext({
  config,
  database,
  log,
  services,
  errors,
  disk,
  onMismatch,
}: BindContextOptions): BindContext {
  const found = services.get(authenticator.id) as Authenticator | undefined;
  if (found === undefined) {
    throw new BootError(
      `No enabled plugin provides the service ${authenticator.id}; requests could not be authenticated.`,
    );
  }
  const report = onMismatch ?? (config.env === "dev" ? warnOf(log) : undefined);
  return {
    authenticator: found,
    log,
    errors,
    diskProblem: disk.problem,
    clientAddress: createClientAddress(config.forwardedAllowIps.join(",")),
    idempotency: createIdempotency(createIdempotencyStore(database), { log }),
    openAnswers: createOpenAnswers(found),
    keyHeader: () => found.keyHeader(),
    maxBody: () => config.requestBodyMaxBytes,
    compress: () => config.compression,
    fastJson: () => config.fastJson,
    aliases: () => config.ecosystemAliases,
    origins: createOrigins(config),
    onMismatch: report && ((route, problem) => report(`${route.method} ${route.path}`, problem)),
  };
}

/** Put together only when a setting changed: every request asks. */
function createOrigins(config: CoreConfig): () => readonly string[] {
  let [allowed, publicUrl]: [readonly string[], string] = [[], ""];
  let origins = allowed;
  return () => {
    if (allowed !== config.corsAllowOrigin || publicUrl !== config.webuiUrl) {
      [allowed, publicUrl] = [config.corsAllowOrigin, config.webuiUrl];
      origins = URL.canParse(publicUrl) ? [...allowed, new URL(publicUrl).origin] : allowed;
    }
    return origins;
  };
}

function warnOf(log: Logger) {
  return (route: string, problem: string) =>
    log.warn({ route, problem }, "an answer does not fit its declared shape");
}
