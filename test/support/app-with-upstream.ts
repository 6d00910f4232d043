import { type App, type AppOptions, startApp } from "./app.ts";
import { useApp } from "./shared-apps.ts";
import { startUpstream, type Upstream, useUpstream } from "./upstream.ts";

/** The platform and a scripted upstream, which all of its connections lead to. */
export interface AppWithUpstream {
  readonly app: App;
  readonly upstream: Upstream;
  close(): Promise<void>;
}

export interface AppWithUpstreamOptions extends AppOptions {
  /** Items of the upstream's model list, or their ids. */
  readonly models?: Upstream["models"];
  /** The connection's entry of OPENAI_API_CONFIGS; every account may use its models unless told otherwise. */
  readonly connection?: object;
  /** Several connections to the same upstream instead, by their entries of OPENAI_API_CONFIGS. */
  readonly connections?: readonly object[];
}

/** Starts both; answers are scripted on the upstream. */
export async function startAppWithUpstream(options: AppWithUpstreamOptions = {}): Promise<AppWithUpstream> {
  const upstream = await startUpstream();
  return join(
    upstream,
    () => startApp({ plugins: options.plugins ?? [], env: toEnv(upstream, options) }),
    options,
  );
}

/** The same with a platform and an upstream that other suites of this worker use as well: see `useApp`. */
export async function useAppWithUpstream(
  options: Omit<AppWithUpstreamOptions, "plugins"> = {},
): Promise<AppWithUpstream> {
  const upstream = await useUpstream();
  return join(upstream, () => useApp({ env: toEnv(upstream, options) }), options);
}

function toEnv(
  { url }: Upstream,
  { connection = { access: "everyone" }, connections = [connection], env }: AppWithUpstreamOptions,
): Record<string, string> {
  return {
    // One address a connection: they differ by the slashes at their ends.
    OPENAI_API_BASE_URLS: connections.map((_entry, at) => url + "/".repeat(at)).join(";"),
    OPENAI_API_CONFIGS: JSON.stringify({ ...connections }),
    ...env,
  };
}

async function join(
  upstream: Upstream,
  start: () => Promise<App>,
  { models = ["alpha"] }: AppWithUpstreamOptions,
): Promise<AppWithUpstream> {
  upstream.models = models;
  const app = await start();
  return {
    app,
    upstream,
    async close() {
      await app.close();
      await upstream.close();
    },
  };
}
