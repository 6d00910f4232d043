/** The values of the protocol's library that this plugin uses. */
export type McpSdk = Awaited<ReturnType<typeof importSdk>>;

let loading: Promise<McpSdk> | undefined;
let loaded: McpSdk | undefined;

/** The protocol's library. It is loaded at its first use: servers without MCP need not pay for its start and memory. */
export async function loadSdk(): Promise<McpSdk> {
  loaded = await (loading ??= importSdk());
  return loaded;
}

/** The library once something used it; before, no error can be one of its own. */
export const loadedSdk = (): McpSdk | undefined => loaded;

async function importSdk() {
  const [client, transport, types, auth, authUtils, authErrors] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
    import("@modelcontextprotocol/sdk/client/auth.js"),
    import("@modelcontextprotocol/sdk/shared/auth-utils.js"),
    import("@modelcontextprotocol/sdk/server/auth/errors.js"),
  ]);
  return {
    ...types,
    ...auth,
    ...authUtils,
    Client: client.Client,
    ...transport,
    OAuthError: authErrors.OAuthError,
  };
}
