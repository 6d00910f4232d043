// Types and slots stand in files of their own: what is exported here never needs this file.
export { type UserEvent, type UserEventPlace, type UserEvents, userEvents } from "./host/user-events.ts";

// Workspace tools are code of people as well: what both kinds need stands here and is used by both.
export { type CallFacts, toModel } from "./calls/call-context.ts";
export { type Capabilities, type CodeFacts, declaredCapabilities, toCodeFacts } from "./calls/facts.ts";
export { createInvoke, type ReadyCode } from "./calls/invoke.ts";
export { loadShape, toSandboxMessage } from "./calls/load.ts";
export { codeLimits } from "./config.ts";
export { createHostComplete } from "./host/complete.ts";
export { createHostFactory, type CreateHost, type HostParts } from "./host/create-host.ts";
export { createHostFetch } from "./host/fetch.ts";
export { createCodeStorage, createPassingStorage, forgetUser } from "./host/storage.ts";
export { createTrialHost, toError, tryCode } from "./library/dry-run.ts";
export { toCodeId } from "./library/library.ts";
export { createUrlLoader } from "./library/load-url.ts";
export { toDescription } from "./library/record.ts";
export { toWidened } from "./library/widening.ts";
export { valveRoutes } from "./routes/valves.ts";
export { CodeError, DryRunTrace, IdParams, LoadUrl, LogLines, maxContent, VersionParams } from "./schema.ts";
export { createCodeValves, type CodeValves } from "./valves/code-valves.ts";
export { sealStored } from "./valves/seal-stored.ts";
export { createUserValves, type UserValves } from "./valves/user-valves.ts";
export type { ValveSet } from "./valves/valve-set.ts";
export { createValveVault, type ValveVault } from "./valves/valve-vault.ts";
