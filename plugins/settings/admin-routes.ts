import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import {
  Banner,
  Changes,
  ImportPreview,
  Restore,
  SettingHistory,
  SettingRecord,
  Suggestion,
  Values,
} from "./schema.ts";
import type { Offers } from "./offers.ts";
import type { Settings } from "./values.ts";

export interface AdminRouteParts {
  readonly settings: Settings;
  readonly offers: Offers;
  /** ENABLE_ADMIN_EXPORT. */
  mayExport(): boolean;
}

/** `/api/v1/configs` (contract 10): settings with their origin, export and import, banners and suggestions. */
export function adminRoutes(parts: AdminRouteParts) {
  return [
    ...settingsRoutes(parts.settings),
    ...historyRoutes(parts.settings),
    ...transferRoutes(parts),
    ...offerRoutes(parts.offers),
  ];
}

function settingsRoutes(settings: Settings) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/settings",
        summary: "List every variable with its value and where that comes from",
        access: "admin",
        returns: z.array(SettingRecord),
      },
      () => settings.list(),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/settings",
        summary: "Set variables by name; all or none",
        access: "admin",
        body: Values,
        returns: z.array(SettingRecord),
      },
      ({ caller, body }) => settings.set(body, caller.userId),
    ),
    defineRoute(
      {
        method: "PATCH",
        path: "/configs/settings",
        summary:
          "Set or forget variables, refusing those that others changed since the version that was seen",
        access: "admin",
        body: Changes,
        returns: z.array(SettingRecord),
        fails: [409],
      },
      ({ caller, body }) => settings.change(body.changes, caller.userId),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/configs/settings/:name",
        summary: "Forget the stored value of a variable",
        access: "admin",
        params: Named,
        returns: SettingRecord,
        fails: [404],
      },
      ({ caller, params }) => settings.reset(params.name, caller.userId),
    ),
  ];
}

const Named = z.object({ name: z.string().max(200) });

function historyRoutes(settings: Settings) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/settings/:name/history",
        summary: "List the kept changes of a variable, the latest first",
        access: "admin",
        params: Named,
        returns: z.array(SettingHistory),
        fails: [404],
      },
      ({ params }) => settings.history(params.name),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/settings/:name/restore",
        summary: "Bring back the value before or after a kept change",
        access: "admin",
        params: Named,
        body: Restore,
        returns: z.array(SettingRecord),
        fails: [400, 404, 409],
      },
      ({ caller, params, body }) => settings.restore(params.name, body, caller.userId),
    ),
  ];
}

function transferRoutes({ settings, mayExport }: AdminRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/export",
        summary: "Export persisted settings by key, without secrets",
        access: "admin",
        returns: Values,
      },
      () => {
        if (!mayExport()) {
          throw new AppError("forbidden", "Exports are switched off.");
        }
        return settings.export();
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/import",
        summary: "Import settings by key, flat or nested; all or none",
        access: "admin",
        body: z.object({ config: Values }),
        returns: z.object({ imported: z.array(z.string()), ignored: z.array(z.string()) }),
      },
      ({ caller, body }) => settings.import(body.config, caller.userId),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/import/preview",
        summary: "Say what an import would change and what it would refuse; changes nothing",
        access: "admin",
        body: z.object({ config: Values }),
        returns: ImportPreview,
      },
      ({ body }) => settings.preview(body.config),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/configs/namespace/:namespace",
        summary: "Read the persisted settings below a key prefix, without secrets",
        access: "admin",
        params: z.object({ namespace: z.string().min(1).max(200) }),
        returns: Values,
      },
      ({ params }) => settings.namespace(params.namespace),
    ),
  ];
}

function offerRoutes(offers: Offers) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/banners",
        summary: "List the banners",
        access: "user",
        returns: z.array(Banner),
      },
      () => offers.banners(),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/banners",
        summary: "Replace the banners",
        access: "admin",
        body: z.object({ banners: z.array(Banner).max(100) }),
        returns: z.array(Banner),
      },
      ({ caller, body }) => offers.setBanners(body.banners, caller.userId),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/suggestions",
        summary: "Replace the prompt suggestions; null brings the built-in ones back",
        access: "admin",
        body: z.object({ suggestions: z.array(Suggestion).max(100).nullable() }),
        returns: z.array(Suggestion),
      },
      ({ caller, body }) => offers.setSuggestions(body.suggestions, caller.userId),
    ),
  ];
}
