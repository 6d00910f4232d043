import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { isMasked, maskKey } from "#kernel/upstream/mask.ts";
import { type Backend, BackendConfig, findProblem, toBackends, toPlainUrl } from "./backend.ts";
import type { Backends } from "./backends.ts";
import type { RuntimeConfig } from "./config.ts";

export interface ConfigRoutesOptions {
  readonly config: RuntimeConfig;
  readonly configuration: ConfigRegistry;
  readonly backends: Backends;
  /** The version of a backend. */
  fetchVersion(backend: Backend): Promise<string>;
  /** Tells of a change; addresses and keys stay out of it. */
  changed(by: Principal, data: { readonly backends: number }): void;
}

const Configs = z.record(z.string(), BackendConfig);

const ConfigForm = z.object({
  ENABLE_OLLAMA_API: z.boolean().nullish(),
  OLLAMA_BASE_URLS: z.array(z.string().trim().max(2048)).max(100),
  OLLAMA_API_CONFIGS: Configs.nullish(),
});

const ConfigView = z
  .object({
    ENABLE_OLLAMA_API: z.boolean(),
    OLLAMA_BASE_URLS: z.array(z.string()),
    OLLAMA_API_CONFIGS: Configs,
  })
  .meta({ id: "RuntimeConfig" });

const VerifyForm = z.object({
  url: z.string().trim().min(1).max(2048),
  key: z.string().trim().max(8192).nullish(),
});

/** Milliseconds an update waits for the lists of models, so that the admin sees what was just connected. */
const patienceAfterUpdate = 2000;

type Form = z.output<typeof ConfigForm>;
type Stored = Pick<RuntimeConfig, "baseUrls" | "configs">;

/** Reading, changing and trying out the backends (contract §2.3). Keys are shown masked and may come back so. */
export function configRoutes(options: ConfigRoutesOptions) {
  const { config, configuration, backends } = options;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/config",
        summary: "Read the backends",
        access: "admin",
        returns: ConfigView,
        alwaysOn: true,
      },
      () => toView(config),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/config/update",
        summary: "Replace the backends",
        access: "admin",
        body: ConfigForm,
        returns: ConfigView,
        fails: [400],
        alwaysOn: true,
      },
      async ({ body, caller }) => {
        await configuration.set(toChanges(body, config), caller.userId);
        options.changed(caller, { backends: config.baseUrls.length });
        await withinTime(Promise.resolve(backends.offers({ refresh: true })), patienceAfterUpdate);
        return toView(config);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/verify",
        summary: "Try a backend and tell its version",
        access: "admin",
        body: VerifyForm,
        returns: z.object({ version: z.string() }),
        fails: [400, 502, 504],
        alwaysOn: true,
      },
      async ({ body }) => {
        const url = toPlainUrl(body.url);
        requireUsable(url, "This backend");
        const key = unmask(body.key ?? "", url, config);
        const [backend] = toBackends([url], { 0: { key } });
        return { version: await verify(options, backend as Backend) };
      },
    ),
  ] as const;
}

/** One entry a URL at most; promise S107. */
function toView({ enabled, baseUrls, configs }: RuntimeConfig) {
  const shown = baseUrls.flatMap((_url, index) => {
    const config = configs[index];
    return config ? [[String(index), masked(config)] as const] : [];
  });
  return {
    ENABLE_OLLAMA_API: enabled,
    OLLAMA_BASE_URLS: [...baseUrls],
    OLLAMA_API_CONFIGS: Object.fromEntries(shown),
  };
}

function masked(config: BackendConfig): BackendConfig {
  return config.key ? { ...config, key: maskKey(config.key) } : config;
}

function toChanges(form: Form, stored: Stored): Record<string, unknown> {
  const urls = form.OLLAMA_BASE_URLS.map(toPlainUrl);
  const configs: Record<string, BackendConfig> = {};
  urls.forEach((url, index) => {
    const given = form.OLLAMA_API_CONFIGS?.[index];
    if (given?.enable !== false) {
      requireUsable(url, `Backend ${index}`);
    }
    if (given) {
      configs[index] = given.key ? { ...given, key: unmask(given.key, url, stored) } : given;
    }
  });
  return {
    ...(typeof form.ENABLE_OLLAMA_API === "boolean" && { ENABLE_OLLAMA_API: form.ENABLE_OLLAMA_API }),
    OLLAMA_BASE_URLS: urls,
    OLLAMA_API_CONFIGS: configs,
  };
}

function requireUsable(url: string, name: string): void {
  const problem = findProblem(url);
  if (problem) {
    throw new AppError("invalid", `${name} cannot be used: ${problem}.`);
  }
}

/** What was sent, or the stored key of the same address when its mask came back: a key never moves elsewhere unseen. */
function unmask(given: string, url: string, { baseUrls, configs }: Stored): string {
  if (!isMasked(given)) {
    return given;
  }
  const keys = baseUrls.map((known, index) => (toPlainUrl(known) === url ? configs[index]?.key : undefined));
  const key = keys.find((each) => each && maskKey(each) === given);
  if (!key) {
    throw new AppError(
      "invalid",
      "A masked key was sent for an address that has no such key; send the whole key.",
    );
  }
  return key;
}

/** The backend's own status must not reach the admin's browser as this platform's: a 401 would sign it out. */
async function verify({ fetchVersion }: ConfigRoutesOptions, backend: Backend): Promise<string> {
  try {
    return await fetchVersion(backend);
  } catch (error) {
    if (error instanceof ProviderError) {
      throw new AppError("upstream", `The backend refused with status ${error.status}.`, { cause: error });
    }
    throw error;
  }
}

function withinTime(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    promise.then(() => resolve(), reject).finally(() => clearTimeout(timer));
  });
}
