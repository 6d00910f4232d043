import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { findAddressProblem, toIndexed, toPlainUrl } from "#kernel/upstream/endpoint.ts";
import {
  requireNoProblem,
  requireOwnPrefixes,
  tryOut,
  unmask,
  waitForLists,
} from "#kernel/upstream/endpoint-form.ts";
import { maskKey } from "#kernel/upstream/mask.ts";
import { type Backend, BackendConfig, toBackends } from "../backends/backend.ts";
import type { Backends } from "../backends/backends.ts";
import type { RuntimeConfig } from "../config.ts";

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
        await waitForLists(backends.models({ refresh: true }));
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
        requireNoProblem(findAddressProblem(url), "This backend");
        const key = unmask(body.key ?? "", { url }, toSecrets(config));
        const [backend] = toBackends([url], { 0: { key } });
        return { version: await tryOut(options.fetchVersion(backend as Backend), "The backend") };
      },
    ),
  ] as const;
}

/** One entry a URL at most; promise S107. */
function toView({ enabled, baseUrls, configs }: RuntimeConfig) {
  const shown = Object.entries(toIndexed(baseUrls, configs)).map(([index, each]) => [index, masked(each)]);
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
  const secrets = toSecrets(stored);
  const configs: Record<string, BackendConfig> = {};
  urls.forEach((url, index) => {
    const given = form.OLLAMA_API_CONFIGS?.[index];
    if (given?.enable !== false) {
      requireNoProblem(findAddressProblem(url), `Backend ${index}`);
    }
    if (given) {
      configs[index] = given.key ? { ...given, key: unmask(given.key, { url, index }, secrets) } : given;
    }
  });
  requireOwnPrefixes(configs, toIndexed(stored.baseUrls, stored.configs), "Backend");
  return {
    ...(typeof form.ENABLE_OLLAMA_API === "boolean" && { ENABLE_OLLAMA_API: form.ENABLE_OLLAMA_API }),
    OLLAMA_BASE_URLS: urls,
    OLLAMA_API_CONFIGS: configs,
  };
}

function toSecrets({ baseUrls, configs }: Stored) {
  const indexed = toIndexed(baseUrls, configs);
  return { urls: baseUrls, read: (index: number) => indexed[index]?.key };
}
