import type { Person, Platform } from "./platform.ts";

export interface Place {
  /** As the plugin declares it, such as `/notes/:id`. */
  readonly pattern: string;
  /** Where it is for this person. */
  readonly path: string;
  readonly isAdministrators: boolean;
}

/** Pages that no person of these suites can open, with the reason. */
const notOpened: Readonly<Record<string, string>> = {
  "/auth": "shows the sign-in, which has suites of its own",
  "/kit": "shows the components themselves",
};

/** The pages that the server lists for a person, each with the id of something that it shows. */
export async function listPages(
  { call, admin }: Platform,
  { token, things }: Person,
): Promise<readonly Place[]> {
  const isFirst = token === admin.token;
  const { body } = await call("GET /api/v1/pages", { token });
  return (body as { path: string; place: string }[])
    .filter(({ path }) => notOpened[path] === undefined)
    .flatMap(({ path, place }) => {
      const id = things.get(path);
      if (path.includes(":") && id === undefined) {
        // Accounts cannot make everything that they may look at; that of the administrator is visited in any case.
        if (isFirst) {
          throw new Error(`Nothing to show at ${path}: make it in test/hands/support/things.ts.`);
        }
        return [];
      }
      const isAdministrators = place === "admin" || path.startsWith("/admin/");
      return [{ pattern: path, path: path.replace(/:\w+/, id ?? ""), isAdministrators }];
    });
}
