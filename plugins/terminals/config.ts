import { int, json } from "#config/variable.ts";
import { StoredTerminals } from "./connections/schema.ts";

export const terminalVariables = {
  connections: json("TERMINAL_SERVER_CONNECTIONS", [], {
    key: "terminal_server.connections",
    persisted: true,
    secretPlaces: ["*.key"],
    schema: StoredTerminals,
    text: "Terminal servers, as a JSON list of {id, name, url, key, enabled, config: {access_grants}}; keys are never shown",
  }),
  maxBytes: int("TERMINAL_PROXY_MAX_BYTES", 268_435_456, {
    min: 1024,
    text: "Largest body in bytes that is passed on to a terminal server or from it, uploads and downloads of files included",
  }),
};
