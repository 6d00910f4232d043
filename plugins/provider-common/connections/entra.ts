import { readFile } from "node:fs/promises";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import { toPlainUrl } from "#kernel/upstream/endpoint.ts";
import { openUpstream } from "#kernel/upstream/client.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import type { CommonConfig } from "../config.ts";

/** Tokens by which Microsoft Entra vouches for this server. */
export interface EntraTokens {
  /** The token for model calls, fetched anew shortly before it expires. Throws `upstream` where none can be had. */
  token(): string | Promise<string>;
}

export interface EntraOptions {
  readonly egress: Egress;
  readonly config: Pick<
    CommonConfig,
    | "entraTenant"
    | "entraClient"
    | "entraSecret"
    | "entraTokenFile"
    | "entraAuthority"
    | "entraIdentityUrl"
    | "entraIdentityHeader"
  >;
  readonly log: Logger;
  /** Epoch milliseconds. */
  now?(): number;
}

/** What the token is for: the services that run models. */
const resource = "https://cognitiveservices.azure.com";

/** Where a virtual machine asks for the token of its own identity. */
const machineUrl = "http://169.254.169.254/metadata/identity/oauth2/token";

/** Milliseconds before its end at which a token is replaced. */
const margin = 5 * 60_000;

const timeLimit = 10_000;
const largestAnswer = 64 * 1024;

interface Asking {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly secret: string;
}

/**
 * Fetches tokens as the environment allows: with a client's secret, with the token file of a workload identity, or by
 * the identity of the machine.
 */
export function createEntraTokens({ egress, config, log, now = Date.now }: EntraOptions): EntraTokens {
  let known: { readonly token: string; readonly until: number } | undefined;
  let running: Promise<string> | undefined;

  const fetchToken = async () => {
    try {
      const { secret, ...asked } = await toAsking(config);
      const upstream = await openUpstream(egress, { headers: {}, ...asked, secret, timeLimit });
      const answer = JSON.parse(await readText(upstream.body, largestAnswer)) as Record<string, unknown>;
      const { access_token: token, expires_in: life } = answer;
      if (typeof token !== "string" || token === "") {
        throw new Error("the answer holds no token");
      }
      known = { token, until: now() + 1000 * (Number(life) || 0) - margin };
      return token;
    } catch (error) {
      log.warn({ err: error }, "Microsoft Entra gave no token");
      throw new AppError("upstream", "This server could not sign in at the provider.", { cause: error });
    } finally {
      running = undefined;
    }
  };
  return {
    token: () => (known !== undefined && known.until > now() ? known.token : (running ??= fetchToken())),
  };
}

async function toAsking(config: EntraOptions["config"]): Promise<Asking> {
  const { entraTenant: tenant, entraClient: client, entraSecret: secret, entraTokenFile: file } = config;
  if (tenant !== "" && client !== "" && (secret !== "" || file !== "")) {
    const proof: Record<string, string> =
      secret !== ""
        ? { client_secret: secret }
        : {
            client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            // It is replaced by the cluster now and then.
            client_assertion: (await readFile(file, "utf8")).trim(),
          };
    const form = { grant_type: "client_credentials", client_id: client, scope: `${resource}/.default` };
    return {
      url: `${toPlainUrl(config.entraAuthority)}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ ...form, ...proof }).toString(),
      secret: Object.values(proof).at(-1) as string,
    };
  }
  const isService = config.entraIdentityUrl !== "";
  const url = new URL(isService ? config.entraIdentityUrl : machineUrl);
  url.searchParams.set("api-version", isService ? "2019-08-01" : "2018-02-01");
  url.searchParams.set("resource", resource);
  if (client !== "") {
    url.searchParams.set("client_id", client);
  }
  const headers: Record<string, string> = isService
    ? { "x-identity-header": config.entraIdentityHeader }
    : { metadata: "true" };
  return { url: url.href, method: "GET", headers, secret: config.entraIdentityHeader };
}
