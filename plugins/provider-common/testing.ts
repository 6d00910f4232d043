import type { Principal } from "#kernel/access/principal.ts";
import type { CallContext, CompletionAnswer, ProviderModel } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { createEgress } from "#kernel/egress/egress.ts";
import { createLogger } from "#kernel/log.ts";
import type { CommonConfig } from "./config.ts";
import { variables } from "./config.ts";
import { type Connection, type ConnectionConfig } from "./connections/connection.ts";
import { createConnections } from "./connections/connections.ts";
import { createEntraTokens } from "./connections/entra.ts";
import { fetchModels } from "./models/fetch-models.ts";
import { createHeaderBuilder } from "./connections/headers.ts";
import { createMessageSupport } from "./connections/message-support.ts";
import { createProvider } from "./completions/provider.ts";
import { createUpstreamClient } from "./connections/upstream.ts";

export const caller: Principal = {
  userId: "u1",
  role: "user",
  name: "Zoë 世界",
  email: "zoe@example.test",
  groupIds: ["g1", "g2"],
  permissions: {},
  credential: "session",
  session: null,
};

export interface Setup {
  urls: string[];
  keys?: string[];
  configs?: Record<string, ConnectionConfig>;
  config?: Partial<CommonConfig>;
  idleSeconds?: number;
  totalSeconds?: number;
  listSeconds?: number;
}

/** The provider with the real outbound client, without the platform around it. `settings` may be changed while it runs. */
export function openProvider(setup: Setup) {
  const defaults = Object.fromEntries(
    Object.entries(variables).map(([name, variable]) => [name, variable.default]),
  );
  const settings = {
    ...(defaults as unknown as CommonConfig),
    baseUrls: setup.urls,
    apiKeys: setup.keys ?? [],
    configs: setup.configs ?? {},
    ...setup.config,
  } as { -readonly [K in keyof CommonConfig]: CommonConfig[K] };
  const lines: string[] = [];
  const log = createLogger({ level: "INFO", format: "json", stream: { write: (line) => lines.push(line) } });
  const egress = createEgress({
    allowedPrivateOrigins: () => [],
    ssl: () => true,
    caFile: () => "",
    fingerprint: () => "",
    allowRedirects: () => false,
    timeoutSeconds: () => setup.totalSeconds ?? null,
  });
  const client = createUpstreamClient({
    egress,
    headers: createHeaderBuilder({
      config: settings,
      entra: createEntraTokens({ egress, config: settings, log }),
      groupNames: async (ids) => ids.map((id) => `Group ${id}`),
    }),
    streamIdleTimeout: () => setup.idleSeconds ?? null,
  });
  const listModels = (connection: Connection) =>
    fetchModels(client, connection, 1000 * (setup.listSeconds ?? 10));
  const connections = createConnections({ config: settings, fetchModels: listModels, log });
  const messageSupport = createMessageSupport({ connections, client });
  const provider = createProvider({ connections, client, config: settings, log, messageSupport });

  return {
    provider,
    connections,
    settings,
    lines,
    /** Asks a model, by its public id. */
    async ask(
      request: Partial<CompletionRequest> & { model: string },
      context: Partial<CallContext> = {},
    ): Promise<CompletionAnswer> {
      const model = (await provider.models({ refresh: true })).find((each) => each.id === request.model);
      return provider.complete({
        request: { messages: [{ role: "user", content: "Hi" }], ...request } as CompletionRequest,
        model: model as ProviderModel,
        principal: caller,
        signal: new AbortController().signal,
        ...context,
      });
    },
    close: () => egress.close(),
  };
}

/** The text of a streamed answer, and what it ended with. */
export async function readText(
  answer: CompletionAnswer,
): Promise<{ text: string; error: unknown; models: Set<unknown> }> {
  let text = "";
  const models = new Set<unknown>();
  if (answer.kind === "whole") {
    return {
      text: answer.completion.choices?.[0]?.message.content ?? "",
      error: undefined,
      models: models.add(answer.completion.model),
    };
  }
  try {
    for await (const batch of answer.stream.chunks()) {
      for (const chunk of batch) {
        models.add(chunk.model);
        text += chunk.choices?.[0]?.delta.content ?? "";
      }
    }
  } catch (error) {
    return { text, error, models };
  }
  return { text, error: undefined, models };
}
