import { contributed } from "#plugins/web/kit/contributions.ts";

/** Longest that a question waits for what plugins add to it; each tells by itself what it gave up before that. */
const patienceMs = 6_000;

/** Parts that plugins add to the request of a chat; a part that fails or takes too long adds nothing. Never rejects. */
export async function toParts(): Promise<Record<string, unknown>> {
  const needed = contributed("requestParts").filter((part) => part.isNeeded());
  const late = new Promise<Record<string, unknown>>((resolve) => setTimeout(() => resolve({}), patienceMs));
  const parts = await Promise.all(
    needed.map(async (part) => {
      const own = part.load().then(({ toPart }) => toPart());
      return await Promise.race([own.catch(() => ({})), late]);
    }),
  );
  return Object.assign({}, ...parts) as Record<string, unknown>;
}
