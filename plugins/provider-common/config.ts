import { upstreamVariables } from "#config/core-upstream.ts";
import { bool, json, list, type Values } from "#config/variable.ts";
import { ConnectionConfigs } from "./connection.ts";

/** The variables of the common-format connections. */
export const variables = {
  enabled: bool("ENABLE_OPENAI_API", true, {
    key: "openai.enable",
    persisted: true,
    group: "connections",
    aliases: ["ENABLE_COMPAT_API"],
    text: "Connections to providers that speak the common chat format",
  }),
  baseUrls: list("OPENAI_API_BASE_URLS", [], {
    key: "openai.api_base_urls",
    persisted: true,
    group: "connections",
    separator: ";",
    aliases: ["OPENAI_API_BASE_URL", "COMPAT_API_BASE_URLS", "COMPAT_API_BASE_URL"],
    text: "Base addresses of common-format providers, separated by semicolons",
  }),
  apiKeys: list("OPENAI_API_KEYS", [], {
    key: "openai.api_keys",
    persisted: true,
    secret: true,
    group: "connections",
    separator: ";",
    aliases: ["OPENAI_API_KEY", "COMPAT_API_KEYS", "COMPAT_API_KEY"],
    text: "Keys of the base addresses, in the same order",
  }),
  configs: json(
    "OPENAI_API_CONFIGS",
    {},
    {
      key: "openai.api_configs",
      persisted: true,
      // Header values and keys of single connections stand in it.
      secret: true,
      group: "connections",
      aliases: ["COMPAT_API_CONFIGS"],
      schema: ConnectionConfigs,
      text: "Settings of each connection, by its index",
    },
  ),
  passthrough: bool("ENABLE_OPENAI_API_PASSTHROUGH", false, {
    text: "Members may call any route of a common-format provider below /compat",
  }),
  ...upstreamVariables,
};

export type CommonConfig = Values<typeof variables>;
