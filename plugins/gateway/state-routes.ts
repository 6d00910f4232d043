import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import type { Values } from "#config/variable.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { ListenerState } from "#kernel/http/own-listeners.ts";
import type { Confinement } from "./commands/confinement.ts";
import type { gatewayConfig } from "./config.ts";

const State = z.object({
  enabled: z.boolean(),
  host: z.string(),
  port: z.number().int(),
  root: z.string().describe("Real path of the folder that workspaces lie in"),
  url: z.string().nullable().describe("Address that this process listens on"),
  problem: z.string().nullable().describe("Why it does not listen although it is switched on"),
  model: z.string(),
  command_network: z.boolean(),
  confined: z.boolean().describe("False where commands can reach whatever the server's account can"),
  confinement_problem: z.string().nullable(),
});

const Form = z.object({
  enabled: z.boolean().optional(),
  model: z.string().max(500).optional(),
  command_network: z.boolean().optional(),
});

export interface StateRouteParts {
  readonly config: Values<typeof gatewayConfig>;
  readonly configuration: Pick<ConfigRegistry, "set">;
  readonly confinement: Confinement;
  root(): Promise<string>;
  listener(): ListenerState;
}

/** Settings and state of the gateway for administrators: `/api/v1/gateway/state` and `/config`. */
export function stateRoutes({ config, configuration, confinement, root, listener }: StateRouteParts) {
  const read = async (): Promise<z.output<typeof State>> => {
    const state = listener();
    const confined = await confinement.check();
    return {
      enabled: config.enabled,
      host: config.host,
      port: config.port,
      root: await root(),
      url: state.kind === "listening" ? state.url : null,
      problem: state.kind === "failed" ? state.problem : null,
      model: config.model,
      command_network: config.commandNetwork,
      confined: confined.isOn,
      confinement_problem: confined.isOn ? null : confined.problem,
    };
  };
  return [
    defineRoute(
      {
        method: "GET",
        path: "/gateway/state",
        summary: "Tell where the workspace gateway listens and how commands are confined",
        access: "admin",
        returns: State,
      },
      read,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/gateway/config",
        summary: "Change settings of the workspace gateway; what is left out stays",
        access: "admin",
        body: Form,
        returns: State,
        fails: [400],
      },
      async ({ body, caller }) => {
        const changes = {
          ...(body.model !== undefined && { GATEWAY_MODEL: body.model }),
          ...(body.command_network !== undefined && { GATEWAY_COMMAND_NETWORK: body.command_network }),
          ...(body.enabled !== undefined && { ENABLE_GATEWAY: body.enabled }),
        };
        await configuration.set(changes, caller.userId);
        return await read();
      },
    ),
  ] as const;
}
