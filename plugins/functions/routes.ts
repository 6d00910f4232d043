import type { FunctionContext, FunctionParts } from "./create-functions.ts";
import { createDryRun, createTrialHost } from "./library/dry-run.ts";
import { createFunctionValves } from "./valves/function-valves.ts";
import { createLibrary } from "./library/library.ts";
import { createUrlLoader } from "./library/load-url.ts";
import { createCheck } from "./library/check-code.ts";
import { createOrder } from "./library/order.ts";
import { createSamples } from "./library/samples.ts";
import { formatRoute } from "./routes/format.ts";
import { trialRoutes } from "./routes/trial.ts";
import { libraryRoutes } from "./routes/library.ts";
import { valveRoutes } from "./routes/valves.ts";
import { versionRoutes } from "./routes/versions.ts";
import { createTransfer } from "./library/transfer.ts";
import { createVersions } from "./library/versions.ts";

/** Everything below `/api/v1/functions`. */
export function adminRoutes({ config, use, db, transaction, log }: FunctionContext, parts: FunctionParts) {
  const { sandbox, accounts } = use;
  const shared = { ...parts, db, transaction, sandbox, log };
  const library = createLibrary(shared);
  const summaries = (ids: readonly string[]) => accounts.summaries(ids);
  const dryRun = createDryRun({
    sandbox,
    log,
    seconds: () => config.hookSeconds,
    host: createTrialHost(parts.hostParts, () => config.storageBytes),
  });
  return [
    formatRoute,
    ...trialRoutes({
      library,
      dryRun,
      sandbox,
      check: createCheck({ sandbox, log }),
      samples: createSamples({ db, dryRun, functions: parts.functions }),
    }),
    ...libraryRoutes({
      library,
      summaries,
      transfer: createTransfer(shared),
      order: createOrder(shared),
      loadUrl: createUrlLoader(use.egress),
    }),
    ...versionRoutes({ versions: createVersions(db, parts.functions), library, summaries }),
    ...valveRoutes(createFunctionValves(shared), {
      base: "functions",
      noun: "function",
      access: "permission:workspace.functions",
    }),
  ];
}
