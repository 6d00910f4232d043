import { z } from "zod";
import { bool, int, json, list, text, type Values } from "#config/variable.ts";
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
  maxChunkSize: int("CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE", null, {
    whenEmpty: null,
    whenInvalid: null,
    text: "Bytes beyond which a streamed chunk is dropped; empty, 0 or less keeps all",
  }),
  passthrough: bool("ENABLE_OPENAI_API_PASSTHROUGH", false, {
    text: "Members may call any route of a common-format provider below /compat",
  }),
  statefulResponses: bool("ENABLE_RESPONSES_API_STATEFUL", false, {
    text: "Forwards previous_response_id to providers of the Responses format",
  }),
  forwardUserInfo: bool("ENABLE_FORWARD_USER_INFO_HEADERS", false, {
    text: "Tells providers who asks, in X-Service-* headers",
  }),
  userNameHeader: headerName(
    "FORWARD_USER_INFO_HEADER_USER_NAME",
    "X-Service-User-Name",
    "the account's name",
  ),
  userIdHeader: headerName("FORWARD_USER_INFO_HEADER_USER_ID", "X-Service-User-Id", "the account's id"),
  userEmailHeader: headerName(
    "FORWARD_USER_INFO_HEADER_USER_EMAIL",
    "X-Service-User-Email",
    "the account's e-mail",
  ),
  userRoleHeader: headerName(
    "FORWARD_USER_INFO_HEADER_USER_ROLE",
    "X-Service-User-Role",
    "the account's role",
  ),
  chatIdHeader: headerName("FORWARD_SESSION_INFO_HEADER_CHAT_ID", "X-Service-Chat-Id", "the chat's id"),
  messageIdHeader: headerName(
    "FORWARD_SESSION_INFO_HEADER_MESSAGE_ID",
    "X-Service-Message-Id",
    "the message's id",
  ),
  userJwtHeader: headerName(
    "FORWARD_USER_INFO_HEADER_JWT",
    "X-Service-User-Jwt",
    "the signed user information",
  ),
  userJwtSecret: text("FORWARD_USER_INFO_HEADER_JWT_SECRET", "", {
    secret: true,
    text: "With it, user information goes out as one signed JWT instead of plain headers",
  }),
};

export type CommonConfig = Values<typeof variables>;

function headerName(name: string, value: string, what: string) {
  return text(name, value, {
    text: `Name of the header that tells providers ${what}`,
    check: (given) =>
      z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/)
        .safeParse(given).success
        ? undefined
        : "must be a header name",
  });
}
