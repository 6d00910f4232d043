import { core } from "#config/core.ts";
import { bool, grouped, int, text } from "#config/variable.ts";

export const gatewayConfig = {
  ...grouped("Workspace gateway", {
    enabled: bool("ENABLE_GATEWAY", false, {
      key: "gateway.enable",
      persisted: true,
      text: "Serves workspaces as models on GATEWAY_HOST and GATEWAY_PORT; whoever holds a key runs commands on this server",
    }),
    host: text("GATEWAY_HOST", "127.0.0.1", { text: "Address that the workspace gateway listens on" }),
    port: int("GATEWAY_PORT", 8000, {
      min: 0,
      max: 65_535,
      text: "Port that the workspace gateway listens on",
    }),
    root: text("GATEWAY_ROOT", "", {
      text: "Folder that all workspaces lie in; empty stands for workspaces in DATA_DIR",
    }),
    model: text("GATEWAY_MODEL", "", {
      key: "gateway.model",
      persisted: true,
      text: "Model of every gateway task; empty leaves the choice to the workspace, then to the default chat model",
    }),
    commandNetwork: bool("GATEWAY_COMMAND_NETWORK", false, {
      key: "gateway.command_network",
      persisted: true,
      text: "Lets confined commands of gateway tasks reach the network, this server's own services among it",
    }),
    commandMemory: int("GATEWAY_COMMAND_MEMORY", 4096, {
      key: "gateway.command_memory",
      persisted: true,
      min: 64,
      text: "Memory in MB that one command of a gateway task may take, with all that it starts; confined ones have half of it as /tmp besides",
    }),
    commandPath: text("GATEWAY_COMMAND_PATH", "/usr/local/bin:/usr/bin:/bin", {
      text: "PATH of the commands of gateway tasks, in which bubblewrap and ripgrep are looked for as well",
    }),
  }),
  dataDir: core.dataDir,
};
