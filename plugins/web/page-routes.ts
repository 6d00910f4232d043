import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { mayOpen, type Page, pageGroups, places } from "#kernel/page.ts";
import type { DeclaredPage } from "#kernel/services.ts";
import { javascript, replyAsset } from "./assets.ts";
import { moduleUrl, readModule } from "./modules.ts";

const PageEntry = z
  .object({
    id: z.string(),
    plugin: z.string(),
    path: z.string(),
    title: z.string(),
    icon: z.string().nullable(),
    place: z.enum(places),
    group: z.enum(pageGroups).nullable(),
    order: z.number().nullable(),
    module: z.string().nullable(),
  })
  .meta({ id: "Page" });

/** The list of pages, and the modules of those that plugins of PLUGINS_PATH bring. */
export function pageRoutes(pages: readonly DeclaredPage[]) {
  const sorted = pages.toSorted(comparePages);
  const list = defineRoute(
    {
      method: "GET",
      path: "/pages",
      summary: "List the pages of the interface that the caller may open now",
      access: "public",
      returns: z.array(PageEntry),
    },
    ({ caller }) =>
      sorted
        .filter((declared) => declared.isEnabled() && mayOpen(declared.page, caller))
        .map((declared) => toEntry(declared)),
  );
  // Public, as all code of the interface: a page fetches its data with the rights of the person.
  const module = defineRoute(
    {
      method: "GET",
      path: "/plugins/:plugin/:file",
      summary: "Module of a plugin's page",
      access: "public",
      params: z.object({ plugin: z.string(), file: z.string() }),
      produces: javascript,
      hidden: true,
    },
    async ({ params, request }) => {
      const wanted = `/plugins/${params.plugin}/${params.file}`;
      const declared = pages.find((one) => one.isEnabled() && moduleUrl(one) === wanted);
      const bytes = declared && (await readModule(declared));
      if (bytes === undefined) {
        throw new AppError("not_found", "Not found");
      }
      return replyAsset(request, { bytes, type: javascript });
    },
  );
  return { list, module };
}

function comparePages({ page: a }: DeclaredPage, { page: b }: DeclaredPage): number {
  return (
    places.indexOf(a.place) - places.indexOf(b.place) ||
    rankOf(a.group) - rankOf(b.group) ||
    (a.order ?? Number.MAX_VALUE) - (b.order ?? Number.MAX_VALUE) ||
    a.title.localeCompare(b.title)
  );
}

/** Pages without a group come last. */
const rankOf = (group: Page["group"]): number =>
  group === undefined ? pageGroups.length : pageGroups.indexOf(group);

function toEntry(declared: DeclaredPage): z.output<typeof PageEntry> {
  const { id, path, title, icon = null, place, group = null, order = null } = declared.page;
  return { id, plugin: declared.plugin, path, title, icon, place, group, order, module: moduleUrl(declared) };
}
