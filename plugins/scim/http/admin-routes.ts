import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { surfaces } from "#kernel/http/surfaces.ts";
import type { CallLog } from "../calls/call-log.ts";
import { groupAttributes, userAttributes, type Attribute } from "../discovery/attributes.ts";
import { type ProviderName, providers } from "../trial/provider-calls.ts";
import type { TrialResult } from "../trial/run-trial.ts";

const State = z.object({
  enabled: z.boolean(),
  has_token: z.boolean(),
  provider: z.string().describe("SCIM_AUTH_PROVIDER"),
  path: z.string().describe("Path of the surface below the platform's address"),
  public_url: z.string().describe("WEBUI_URL; empty when it is not set"),
  attributes: z.array(z.object({ resource: z.string(), name: z.string(), stored_as: z.string() })),
});

const Call = z.object({
  id: z.number().int(),
  created_at: z.number().int(),
  method: z.string(),
  path: z.string(),
  status: z.number().int(),
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  duration_ms: z.number().int(),
  address: z.string(),
  client: z.string().nullable(),
});

const Result = z.object({
  title: z.string(),
  method: z.string(),
  path: z.string(),
  sent: z.unknown(),
  expected: z.number().int(),
  status: z.number().int(),
  ok: z.boolean(),
  answer: z.unknown(),
});

export interface AdminRouteParts {
  state(): { enabled: boolean; token: string; provider: string; publicUrl: string };
  readonly calls: CallLog;
  /** `origin` is the listener of this process. */
  tryOut(provider: ProviderName, origin: string): Promise<readonly TrialResult[]>;
}

/** What administrators see of provisioning: `/api/v1/scim/…`. */
export function adminRoutes({ state, calls, tryOut }: AdminRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/scim/state",
        summary: "Tell whether provisioning is on",
        access: "admin",
        returns: State,
      },
      () => {
        const { enabled, token, provider, publicUrl } = state();
        return {
          enabled,
          has_token: token !== "",
          provider,
          path: surfaces.scim.base,
          public_url: publicUrl,
          attributes: [...toNames("User", userAttributes), ...toNames("Group", groupAttributes)],
        };
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/scim/calls",
        summary: "List the last calls of the identity provider, the latest first",
        access: "admin",
        query: z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
        returns: z.array(Call),
      },
      ({ query }) => calls.list(query.limit),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/scim/trial",
        summary: "Make the calls of an identity provider; nothing of what they do stays",
        access: "admin",
        body: z.object({ provider: z.enum(providers) }),
        returns: z.array(Result),
      },
      ({ body, raw }) => tryOut(body.provider, toListener((raw as IncomingMessage).socket)),
    ),
  ];
}

/** The end of a connection that this process listens at. */
function toListener({ localAddress = "", localPort = 0, localFamily }: Socket): string {
  return `http://${localFamily === "IPv6" ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** Where an attribute goes, in the words of the interface. */
const places: Readonly<Record<string, string>> = {
  "User.userName": "E-mail address for signing in",
  "User.displayName": "Name",
  "User.active": "Role: user or pending",
  "Group.displayName": "Name of the group",
  "Group.members": "Members of the group",
};

function toNames(resource: string, attributes: readonly Attribute[]) {
  return attributes
    .filter(({ mutability }) => mutability !== "readOnly")
    .map(({ name }) => ({
      resource,
      name,
      stored_as: places[`${resource}.${name}`] ?? "Kept for the identity provider",
    }));
}
