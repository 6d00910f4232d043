import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, reply, type RequestInfo } from "#kernel/http/route.ts";
import type { Deployment } from "#kernel/services.ts";
import type { Release } from "./changelog.ts";
import { toManifest, toOpenSearch } from "./manifest.ts";

export interface MainRouteParts {
  readonly deployment: Deployment;
  /** WEBUI_BUILD_HASH. */
  readonly buildHash: string;
  config(caller: Principal | undefined): Promise<Record<string, unknown>>;
  /** The release to update to; the running one when there is no newer to be had. */
  latestVersion(): Promise<string>;
  readonly changelog: Readonly<Record<string, Release>>;
  /** EXTERNAL_PWA_MANIFEST_URL's manifest; undefined without one. */
  externalManifest(): Promise<Record<string, unknown> | undefined>;
  /** WEBUI_FAVICON_URL holds an address. */
  hasBrandIcon(): boolean;
  /** WEBUI_URL; "" when it is not set. */
  publicUrl(): string;
}

const Ok = z.object({ status: z.literal(true) });
const Fields = z.record(z.string(), z.unknown());

/** Routes at the root about this installation (contract 0 and 0.1). */
export function mainRoutes(parts: MainRouteParts) {
  return [...healthRoutes(parts.deployment), ...aboutRoutes(parts), ...browserRoutes(parts)];
}

function healthRoutes(deployment: Deployment) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/health",
        isProbe: true,
        summary: "Tell that the service runs",
        access: "public",
        returns: Ok,
      },
      () => ({ status: true as const }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/health/db",
        isProbe: true,
        summary: "Tell whether the database answers and can be written to",
        access: "public",
        returns: Ok,
        fails: [503],
      },
      async () => {
        await requireAnswer(deployment.pingDatabase());
        return { status: true as const };
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/ready",
        isProbe: true,
        summary: "Tell whether requests should be sent here",
        access: "public",
        returns: Ok,
        fails: [503],
      },
      async () => {
        if (!deployment.isReady()) {
          throw new AppError("unavailable", "The service is starting or stopping.", { retryAfter: 5 });
        }
        await requireAnswer(deployment.ping());
        return { status: true as const };
      },
    ),
  ];
}

function aboutRoutes({ deployment, buildHash, config, latestVersion, changelog }: MainRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/api/config",
        summary: "Read what the web interface needs to know; more for those who are signed in",
        access: "public",
        returns: Fields,
      },
      ({ caller }) => config(caller),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/api/version",
        summary: "Read the running release",
        access: "public",
        returns: z.object({ version: z.string(), deployment_id: z.string(), build_hash: z.string() }),
      },
      () => ({
        version: deployment.version,
        deployment_id: deployment.deploymentId,
        build_hash: buildHash,
      }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/api/version/updates",
        summary: "Read the running and the latest release",
        access: "user",
        returns: z.object({ current: z.string(), latest: z.string() }),
      },
      async () => ({ current: deployment.version, latest: await latestVersion() }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/api/changelog",
        summary: "Read what changed, by release",
        access: "public",
        returns: Fields,
      },
      () => changelog,
    ),
  ];
}

function browserRoutes({ deployment, externalManifest, hasBrandIcon, publicUrl }: MainRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/manifest.json",
        summary: "Describe the web app to browsers",
        access: "public",
        produces: "application/manifest+json",
      },
      async () => {
        const manifest =
          (await externalManifest()) ?? toManifest(deployment.name, { hasBrandIcon: hasBrandIcon() });
        return reply(manifest, { headers: { "content-type": "application/manifest+json; charset=utf-8" } });
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/opensearch.xml",
        summary: "Describe the search to browsers",
        access: "public",
        produces: "application/opensearchdescription+xml",
      },
      ({ request }) => {
        const body = toOpenSearch(deployment.name, publicUrl() || toBase(request));
        return reply(body, {
          headers: { "content-type": "application/opensearchdescription+xml; charset=utf-8" },
        });
      },
    ),
  ];
}

/** Says which part is away. */
async function requireAnswer(pinged: Promise<void>): Promise<void> {
  try {
    await pinged;
  } catch (error) {
    throw new AppError("unavailable", (error as Error).message, { cause: error, retryAfter: 5 });
  }
}

function toBase(request: RequestInfo): string {
  return `${request.protocol}://${request.host ?? "localhost"}`;
}
