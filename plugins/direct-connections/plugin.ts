import { core } from "#config/core.ts";
import { AppError } from "#kernel/errors.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { configuration } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { type DirectModel, directModels } from "#plugins/completions/service.ts";
import { createDirectProvider } from "./provider.ts";
import { toProviderModel } from "./model.ts";

/** Connections that members keep themselves: their own client calls the upstream, the platform does the rest. */
export default definePlugin({
  id: "direct-connections",
  title: "Direct connections",
  summary: "Lets members use providers that their own browsers call.",
  config: { idleTimeout: core.streamIdleTimeout },
  uses: { configuration, hub },
  setup({ config, use }) {
    // The setting belongs to a plugin that may be left out.
    const isAllowed = () => use.configuration.valueOr(setting, false) === true;
    const open = ({ id, item, sessionId }: DirectModel) => {
      if (!isAllowed()) {
        throw new AppError("forbidden", "Direct connections are switched off.");
      }
      if (!sessionId) {
        throw new AppError(
          "invalid",
          "session_id: a direct connection is called by an open client, so name its session.",
        );
      }
      const idleTimeout = () => config.idleTimeout;
      const provider = createDirectProvider({ hub: use.hub, idleTimeout }, { item, sessionId });
      return { model: toProviderModel(id, item), provider };
    };
    return { fills: [fill(directModels, { open })] };
  },
});

const setting = "ENABLE_DIRECT_CONNECTIONS";
