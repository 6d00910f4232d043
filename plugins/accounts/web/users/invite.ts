import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";

export type Invited = Api["POST /api/v1/users/invitations"]["answer"]["invitations"][number];

/** Makes the links of these accounts. */
export async function invite(userIds: readonly string[]): Promise<readonly Invited[]> {
  const body = { user_ids: [...userIds] };
  return (await server.call("POST /api/v1/users/invitations", { body })).invitations;
}
