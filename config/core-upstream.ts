import { z } from "zod";
import { bool, int, text } from "./variable.ts";

/** Variables of model providers of every kind. */
export const upstreamVariables = {
  maxChunkSize: int("CHAT_STREAM_RESPONSE_CHUNK_MAX_BUFFER_SIZE", null, {
    whenEmpty: null,
    whenInvalid: null,
    text: "Bytes beyond which a chunk streamed by a common-format connection is dropped; empty, 0 or less keeps all",
  }),
  statefulResponses: bool("ENABLE_RESPONSES_API_STATEFUL", false, {
    text: "Forwards previous_response_id to providers of the Responses format",
  }),
  baseModelsCache: bool("ENABLE_BASE_MODELS_CACHE", false, {
    key: "models.base_models_cache",
    persisted: true,
    text: "Lists of providers' models are kept until they are refreshed or their connection changes",
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
