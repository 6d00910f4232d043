import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { toIndexed, toPlainUrl } from "#kernel/upstream/endpoint.ts";
import {
  requireNoProblem,
  requireOwnPrefixes,
  tryOut,
  waitForLists,
} from "#kernel/upstream/endpoint-form.ts";
import type { CommonConfig } from "../config.ts";
import { type Connection, ConnectionConfig, findProblem, toConnections } from "./connection.ts";
import { showConfig, type StoredConnections, unmaskConfig, unmaskKey } from "./secrets.ts";
import type { Connections } from "./connections.ts";
import type { UpstreamList } from "../models/parse-models.ts";

export interface ConfigRoutesOptions {
  readonly config: CommonConfig;
  readonly configuration: ConfigRegistry;
  readonly connections: Connections;
  fetchModels(connection: Connection): Promise<UpstreamList>;
  /** Tells of a change; addresses and keys stay out of it. */
  changed(by: Principal, data: { readonly connections: number }): void;
}

const Configs = z.record(z.string(), ConnectionConfig);

const ConfigForm = z.object({
  ENABLE_OPENAI_API: z.boolean().nullish(),
  OPENAI_API_BASE_URLS: z.array(z.string().trim().max(2048)).max(100),
  OPENAI_API_KEYS: z.array(z.string().trim().max(8192)).max(100),
  OPENAI_API_CONFIGS: Configs.nullish(),
});

const ConfigView = z
  .object({
    ENABLE_OPENAI_API: z.boolean(),
    OPENAI_API_BASE_URLS: z.array(z.string()),
    OPENAI_API_KEYS: z.array(z.string()),
    OPENAI_API_CONFIGS: Configs,
  })
  .meta({ id: "CompatConfig" });

const VerifyForm = z.object({
  url: z.string().trim().min(1).max(2048),
  key: z.string().trim().nullish(),
  config: ConnectionConfig.nullish(),
});

/** Reading, changing and trying out the connections (contract §2.3). Keys are shown masked and may come back so. */
export function configRoutes(options: ConfigRoutesOptions) {
  const { config, configuration, connections } = options;
  const stored = (): StoredConnections => ({
    urls: config.baseUrls,
    keys: config.apiKeys,
    configs: toIndexed(config.baseUrls, config.configs),
  });
  const view = () => ({ ENABLE_OPENAI_API: config.enabled, ...showConfig(stored()) });

  return [
    defineRoute(
      {
        method: "GET",
        path: "/config",
        summary: "Read the connections",
        access: "admin",
        returns: ConfigView,
        alwaysOn: true,
      },
      view,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/config/update",
        summary: "Replace the connections",
        access: "admin",
        body: ConfigForm,
        returns: ConfigView,
        fails: [400],
        alwaysOn: true,
      },
      async ({ body, caller }) => {
        await configuration.set(toChanges(body, stored()), caller.userId);
        options.changed(caller, { connections: config.baseUrls.length });
        await waitForLists(connections.offers({ refresh: true }));
        return view();
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/verify",
        summary: "Try a connection and list its models",
        access: "admin",
        body: VerifyForm,
        fails: [400, 502, 504],
        alwaysOn: true,
      },
      async ({ body }) => {
        const url = toPlainUrl(body.url);
        const key = unmaskKey(body.key ?? "", { url }, stored());
        const settings = unmaskConfig(body.config ?? {}, { url }, stored());
        requireNoProblem(findProblem(url, settings), "This connection");
        const [connection] = toConnections([url], [key], { 0: settings });
        const listing = options.fetchModels(connection as Connection);
        return { object: "list", data: (await tryOut(listing, "The provider")).models };
      },
    ),
  ] as const;
}

type Form = z.output<typeof ConfigForm>;

function toChanges(form: Form, stored: StoredConnections): Record<string, unknown> {
  const urls = form.OPENAI_API_BASE_URLS.map(toPlainUrl);
  const configs: Record<string, ConnectionConfig> = {};
  urls.forEach((url, index) => {
    const given = form.OPENAI_API_CONFIGS?.[index];
    if (given?.enable !== false) {
      requireNoProblem(findProblem(url, given ?? {}), `Connection ${index}`);
    }
    if (given) {
      configs[index] = unmaskConfig(given, { url, index }, stored);
    }
  });
  requireOwnPrefixes(configs, stored.configs, "Connection");
  return {
    ...(typeof form.ENABLE_OPENAI_API === "boolean" && { ENABLE_OPENAI_API: form.ENABLE_OPENAI_API }),
    OPENAI_API_BASE_URLS: urls,
    OPENAI_API_KEYS: urls.map((url, index) =>
      unmaskKey(form.OPENAI_API_KEYS[index] ?? "", { url, index }, stored),
    ),
    OPENAI_API_CONFIGS: configs,
  };
}
