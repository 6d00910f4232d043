import type { ConfigRegistry } from "#config/registry.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { z } from "zod";
import { listAccounts } from "../accounts-list.ts";
import type { MfaDeps } from "../deps.ts";
import { resetAction, resetFactors } from "../reset.ts";
import { AccountQuery, Accounts, Policy, PolicyForm, ResetAnswer, ResetForm } from "./schema.ts";

const Params = z.object({ id: z.string().min(1).max(200) });

/** Who has to have a second factor, who has one, and its reset: `/api/v1/auths` (contract 1.2, MFA). */
export function adminRoutes(deps: MfaDeps, configuration: ConfigRegistry) {
  return [...policyRoutes(deps, configuration), accountsRoute(deps), resetRoute(deps)];
}

function policyRoutes({ config }: MfaDeps, configuration: ConfigRegistry) {
  const facts = { path: "/auths/admin/config/mfa", access: "admin", returns: Policy } as const;
  const read = () => ({
    ENABLE_MFA: config.enabled,
    MFA_ALLOW_OAUTH_BYPASS: config.oauthBypass,
    MFA_ALLOW_TRUSTED_HEADER_BYPASS: config.headerBypass,
    MFA_REQUIRED_ROLES: config.roles as ("user" | "admin")[],
    MFA_REQUIRED_GROUPS: [...config.groups],
  });
  return [
    defineRoute({ method: "GET", ...facts, summary: "Who has to have a second factor" }, read),
    defineRoute(
      {
        method: "POST",
        ...facts,
        summary: "Set who has to have a second factor; sessions that would need one end",
        body: PolicyForm,
      },
      async ({ body, caller }) => {
        await configuration.set(body, caller.userId);
        return read();
      },
    ),
  ];
}

function accountsRoute(deps: MfaDeps) {
  return defineRoute(
    {
      method: "GET",
      path: "/auths/mfa/accounts",
      summary: "List accounts with their second factors, 50 a page",
      access: "admin",
      query: AccountQuery,
      returns: Accounts,
    },
    ({ query }) => listAccounts(deps, query),
  );
}

function resetRoute({ db, transaction, sessions, record, emit }: MfaDeps) {
  return defineRoute(
    {
      method: "POST",
      path: "/auths/mfa/accounts/:id/reset",
      summary: "Take the second factor from an account; answers the token that opens its next enrolment",
      access: "admin",
      params: Params,
      body: ResetForm,
      returns: ResetAnswer,
      fails: [403, 404],
    },
    async ({ params, body, caller }) => {
      if (caller.session === null) {
        throw new AppError("forbidden", "Factors are reset in a browser session, not with an API key.");
      }
      const user = await db
        .selectFrom("user")
        .select(["id", "name"])
        .where("id", "=", params.id)
        .executeTakeFirst();
      if (user === undefined) {
        throw new AppError("not_found", "There is no such account.");
      }
      const primary = await sessions.primaryAdmin();
      if (user.id === primary && caller.userId !== primary) {
        throw new AppError(
          "forbidden",
          "The second factor of the primary administrator is reset on the command line.",
        );
      }
      if (user.id === caller.userId) {
        throw new AppError("forbidden", "Change your own second factor in the settings.");
      }
      const reset = await transaction(async (tx) => {
        const object = { type: "user", id: user.id, name: user.name };
        await record({ action: resetAction, object, after: { reason: body.reason }, by: caller.userId }, tx);
        return await resetFactors(tx, user.id);
      });
      await sessions.changed({ userId: user.id });
      emit("auth.mfa.factor.reset", user.id, { by: caller.userId });
      return { reset_token: reset.token, expires_at: reset.expiresAt };
    },
  );
}
