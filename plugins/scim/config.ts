import { bool, grouped, text } from "#config/variable.ts";

/** Provisioning is configured by the environment alone (document 2, Authentication 1): nothing of it is stored. */
export const config = grouped("Provisioning (SCIM)", {
  enabled: bool("SCIM_ENABLED", false, {
    text: "Lets an identity provider manage accounts and groups over SCIM 2.0 at /api/v1/scim/v2",
  }),
  token: text("SCIM_TOKEN", "", {
    secret: true,
    text: "Bearer token of the identity provider, required while SCIM_ENABLED is on: a long random text",
  }),
  provider: text("SCIM_AUTH_PROVIDER", "", {
    text: "Sign-in provider whose accounts the externalId belongs to, kept beside it; not needed for provisioning",
  }),
});
