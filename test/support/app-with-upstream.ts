import { type App, type AppOptions, startApp } from "./app.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

/** The platform and a scripted upstream, its only connection. */
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
}

/** Starts both; answers are scripted on the upstream. */
export async function startAppWithUpstream({
  models = ["alpha"],
  connection = { access: "everyone" },
  env,
  plugins = [],
}: AppWithUpstreamOptions = {}): Promise<AppWithUpstream> {
  const upstream = await startUpstream();
  upstream.models = models;
  const app = await startApp({
    plugins,
    env: {
      OPENAI_API_BASE_URLS: upstream.url,
      OPENAI_API_CONFIGS: JSON.stringify({ 0: connection }),
      ...env,
    },
  });
  return {
    app,
    upstream,
    async close() {
      await app.close();
      await upstream.close();
    },
  };
}
