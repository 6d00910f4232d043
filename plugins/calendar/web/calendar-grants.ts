import type { Grant } from "#plugins/web/kit/access/grants.ts";

/** Grants of a calendar; none where the caller may not see them. */
export function grantsOf(calendar: object | undefined): readonly Grant[] {
  const { access_grants: grants } = (calendar ?? {}) as { readonly access_grants?: readonly Grant[] | null };
  return grants ?? [];
}
