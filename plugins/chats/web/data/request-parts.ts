import { contributed } from "#plugins/web/kit/contributions.ts";

/** What plugins add to the request of a chat; one that fails adds nothing. */
export async function toParts(): Promise<Record<string, unknown>> {
  const needed = contributed("requestParts").filter((part) => part.isNeeded());
  const parts = await Promise.all(
    needed.map(async (part) => {
      const { toPart } = await part.load();
      return await toPart().catch(() => ({}));
    }),
  );
  return Object.assign({}, ...parts) as Record<string, unknown>;
}
