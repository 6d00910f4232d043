import { checkOrigins } from "./parse.ts";
import { bool, boolOrText, list, seconds, text } from "./variable.ts";

/** The one outbound client: limits of time, certificates, redirects, private addresses. */
export const outboundVariables = {
  clientTimeout: seconds("AIOHTTP_CLIENT_TIMEOUT", null, {
    whenInvalid: 300,
    text: "Seconds an outbound call may take altogether; empty, 0 or less is no limit; a value that is no whole number gives 300",
  }),
  streamIdleTimeout: seconds("AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT", null, {
    min: 1,
    whenInvalid: null,
    text: "Seconds of silence after which a stream is broken off; zero, negative or non-numeric is not set",
  }),
  modelListTimeout: seconds("AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST", 10, {
    min: 1,
    whenInvalid: 10,
    text: "Seconds for fetching one upstream's model list",
  }),
  commonModelListTimeout: seconds("AIOHTTP_CLIENT_TIMEOUT_OPENAI_MODEL_LIST", null, {
    min: 1,
    whenInvalid: null,
    text: "Seconds for fetching the model list of a common-format connection; not set, AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST holds",
  }),
  toolServerTimeout: seconds("AIOHTTP_CLIENT_TIMEOUT_TOOL_SERVER", null, {
    whenInvalid: null,
    text: "Seconds for a call of a tool server; not set, AIOHTTP_CLIENT_TIMEOUT holds; 0 or less is no limit for MCP",
  }),
  sessionSsl: boolOrText("AIOHTTP_CLIENT_SESSION_SSL", true, {
    text: "True verifies certificates, False does not, a path names a bundle of certificate authorities",
  }),
  sslCertFile: text("AIOHTTP_CLIENT_SSL_CERT_FILE", "", {
    text: "Path of a bundle of certificate authorities, used while verification is on",
  }),
  allowRedirects: bool("AIOHTTP_CLIENT_ALLOW_REDIRECTS", false, {
    text: "Outbound calls follow redirects; each hop's address is checked",
  }),
  sslAssertFingerprint: text("SSL_ASSERT_FINGERPRINT", "", {
    check: checkFingerprint,
    text: "Fingerprint that the certificates of outbound calls must have",
  }),
  egressAllowedPrivateOrigins: list("EGRESS_ALLOWED_PRIVATE_ORIGINS", [], {
    check: checkOrigins,
    text: "Origins (scheme, host, port) on private addresses that users, functions and tools may reach",
  }),
  offlineMode: bool("OFFLINE_MODE", false, {
    text: "Nothing is fetched from the internet unasked: no version check, no downloads",
  }),
};

function checkFingerprint(text: string): string | undefined {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})?$/i.test(text.replaceAll(":", "").trim())
    ? undefined
    : "must be 40 (SHA-1) or 64 (SHA-256) hexadecimal digits, with or without colons";
}
