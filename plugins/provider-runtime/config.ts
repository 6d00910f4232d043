import { upstreamVariables } from "#config/core-upstream.ts";
import { bool, int, json, list, type Values } from "#config/variable.ts";
import { moveConfigs } from "#kernel/upstream/endpoint.ts";
import { BackendConfigs } from "./backends/backend.ts";

/** The variables of the local model runtime. */
export const variables = {
  enabled: bool("ENABLE_OLLAMA_API", true, {
    key: "ollama.enable",
    persisted: true,
    aliases: ["ENABLE_RUNTIME_API"],
    text: "Backends of the local model runtime",
  }),
  baseUrls: list("OLLAMA_BASE_URLS", [], {
    key: "ollama.base_urls",
    persisted: true,
    separator: ";",
    aliases: ["OLLAMA_BASE_URL", "RUNTIME_BASE_URLS", "RUNTIME_BASE_URL"],
    text: "Base addresses of the local runtime's backends, separated by semicolons",
  }),
  configs: json(
    "OLLAMA_API_CONFIGS",
    {},
    {
      key: "ollama.api_configs",
      persisted: true,
      // Keys of single backends stand in it.
      secret: true,
      secretPlaces: ["*.key", "*.headers.*"],
      placedBy: { list: "OLLAMA_BASE_URLS", move: moveConfigs },
      aliases: ["RUNTIME_API_CONFIGS"],
      schema: BackendConfigs,
      text: "Settings of each backend, by its index",
    },
  ),
  modelFileMaxBytes: int("OLLAMA_MODEL_FILE_MAX_BYTES", 64 * 1024 ** 3, {
    min: 1,
    aliases: ["RUNTIME_MODEL_FILE_MAX_BYTES"],
    text: "Largest model file in bytes that may be uploaded or downloaded for a backend",
  }),
  ...upstreamVariables,
};

export type RuntimeConfig = Values<typeof variables>;
