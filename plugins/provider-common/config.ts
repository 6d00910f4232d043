import { upstreamVariables } from "#config/core-upstream.ts";
import { bool, json, list, text, type Values } from "#config/variable.ts";
import { moveConfigs, moveKeys } from "#kernel/upstream/endpoint.ts";
import { ConnectionConfigs } from "./connections/connection.ts";

/** How this server proves who it is to Microsoft Entra; the names are those of its own tools. */
const entraVariables = {
  entraTenant: text("AZURE_TENANT_ID", "", {
    text: "Tenant in which Microsoft Entra vouches for this server, for connections that sign in there",
  }),
  entraClient: text("AZURE_CLIENT_ID", "", {
    text: "Client id of this server at Microsoft Entra, or of the machine's identity that is to be used",
  }),
  entraSecret: text("AZURE_CLIENT_SECRET", "", {
    secret: true,
    text: "Secret of the client; without it and without a token file the machine's own identity is used",
  }),
  entraTokenFile: text("AZURE_FEDERATED_TOKEN_FILE", "", {
    text: "File with the token of a workload identity, which stands in for the secret",
  }),
  entraAuthority: text("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com", {
    text: "Address at which Microsoft Entra gives tokens to clients",
  }),
  entraIdentityUrl: text("IDENTITY_ENDPOINT", "", {
    text: "Address at which a hosted service asks for the token of its own identity; empty asks as a machine does",
  }),
  entraIdentityHeader: text("IDENTITY_HEADER", "", {
    secret: true,
    text: "What a hosted service shows there",
  }),
};

/** The variables of the common-format connections. */
export const variables = {
  enabled: bool("ENABLE_OPENAI_API", true, {
    key: "openai.enable",
    persisted: true,
    aliases: ["ENABLE_COMPAT_API"],
    text: "Connections to providers that speak the common chat format",
  }),
  baseUrls: list("OPENAI_API_BASE_URLS", [], {
    key: "openai.api_base_urls",
    persisted: true,
    separator: ";",
    aliases: ["OPENAI_API_BASE_URL", "COMPAT_API_BASE_URLS", "COMPAT_API_BASE_URL"],
    text: "Base addresses of common-format providers, separated by semicolons",
  }),
  apiKeys: list("OPENAI_API_KEYS", [], {
    key: "openai.api_keys",
    persisted: true,
    secret: true,
    separator: ";",
    placedBy: { list: "OPENAI_API_BASE_URLS", move: moveKeys },
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
      secretPlaces: ["*.key", "*.headers.*"],
      placedBy: { list: "OPENAI_API_BASE_URLS", move: moveConfigs },
      aliases: ["COMPAT_API_CONFIGS"],
      schema: ConnectionConfigs,
      text: "Settings of each connection, by its index",
    },
  ),
  direct: bool("ENABLE_DIRECT_CONNECTIONS", false, {
    key: "direct.enable",
    persisted: true,
    text: "Clients may let members keep connections of their own, which their browser calls",
  }),
  passthrough: bool("ENABLE_OPENAI_API_PASSTHROUGH", false, {
    text: "Members may call any route of a common-format provider below /compat",
  }),
  ...entraVariables,
  ...upstreamVariables,
};

export type CommonConfig = Values<typeof variables>;
