import { core } from "#config/core.ts";
import { int, seconds, type Values } from "#config/variable.ts";

/** What code of people may take, functions and workspace tools alike. */
export const codeLimits = {
  callSeconds: seconds("FUNCTION_CALL_TIMEOUT_SECONDS", 600, {
    min: 1,
    text: "Seconds that a pipe, an action or a workspace tool may take in all, waiting for models and people included",
  }),
  fetchSeconds: seconds("FUNCTION_FETCH_TIMEOUT_SECONDS", 30, {
    min: 1,
    text: "Seconds that one request of host.fetch may take",
  }),
  fetchBytes: int("FUNCTION_FETCH_MAX_BYTES", 5 * 1024 * 1024, {
    min: 1024,
    text: "Largest answer of host.fetch in bytes",
  }),
  storageBytes: int("FUNCTION_STORAGE_MAX_BYTES", 1024 * 1024, {
    min: 1024,
    text: "Bytes that a function or a workspace tool may keep with host.storage, once for all callers and once for each of them",
  }),
};

export const functionVariables = {
  enabled: core.plugins,
  encryptsValves: core.valveEncryption,
  hookSeconds: seconds("FUNCTION_HOOK_TIMEOUT_SECONDS", 30, {
    min: 1,
    text: "Seconds that an inlet, outlet or event function may take in all",
  }),
  ...codeLimits,
};

export type FunctionConfig = Values<typeof functionVariables>;
