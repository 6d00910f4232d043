import ArrowDownToLine from "@lucide/svelte/icons/arrow-down-to-line";
import ArrowUpFromLine from "@lucide/svelte/icons/arrow-up-from-line";
import Copy from "@lucide/svelte/icons/copy";
import MessageSquare from "@lucide/svelte/icons/message-square";
import Pencil from "@lucide/svelte/icons/pencil";
import RefreshCw from "@lucide/svelte/icons/refresh-cw";
import Trash from "@lucide/svelte/icons/trash";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { MenuItem } from "#plugins/web/kit/menu.ts";
import { server } from "#plugins/web/kit/server.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { ListedModel, ModelList } from "./model-list.svelte.ts";

/** What can be done with one model of the list. */
export function modelMenu(model: ListedModel, list: ModelList): MenuItem[] {
  const id = encodeURIComponent(model.id);
  const isSaved = model.updated_at > 0;
  const isAdmin = session.current?.role === "admin";
  const items: (MenuItem | false)[] = [
    { title: t("Chat with it"), icon: MessageSquare, run: () => router.navigate(`/?models=${id}`) },
    model.write_access && {
      title: t("Edit"),
      icon: Pencil,
      run: () => router.navigate(`/workspace/models/${id}`),
    },
    { title: t("Clone"), icon: Copy, run: () => router.navigate(`/workspace/models/new?from=${id}`) },
    isSaved && isAdmin && { title: t("Export"), icon: ArrowDownToLine, run: () => exportModels([model.id]) },
    isSaved &&
      model.write_access && {
        title: t("Delete"),
        icon: Trash,
        isDanger: true,
        run: () => remove(model, list),
      },
  ];
  return items.filter((item) => item !== false);
}

/** Models as files. */
export function transferMenu({
  list,
  open,
}: {
  list: ModelList;
  open: (read: { text: string; mode: "merge" | "exact" }) => void;
}): MenuItem[] {
  const isAdmin = session.current?.role === "admin";
  const mayImport = session.may("workspace.models_import");
  const read = async (mode: "merge" | "exact") => {
    const text = await chooseFile();
    if (text !== undefined) {
      open({ text, mode });
    }
  };
  return [
    {
      title: t("Export all"),
      icon: ArrowDownToLine,
      isDisabled: !isAdmin || list.total === 0,
      run: () => exportModels(),
    },
    {
      title: t("Import"),
      icon: ArrowUpFromLine,
      description: mayImport
        ? t("Adds and changes models of a file.")
        : t("Needs the permission {permission}.", { permission: "workspace.models_import" }),
      isDisabled: !mayImport,
      run: () => read("merge"),
    },
    ...(isAdmin
      ? [
          {
            title: t("Sync"),
            icon: RefreshCw,
            description: t("Makes the models exactly those of a file."),
            run: () => read("exact"),
          },
        ]
      : []),
  ];
}

function remove(model: ListedModel, list: ModelList): void {
  list.hide(model.id);
  toasts.undoable({
    text: t("“{name}” is deleted.", { name: model.name }),
    title: t("Undo"),
    undo: () => list.load(),
    commit: async () => {
      try {
        await server.call("POST /api/v1/models/model/delete", { body: { id: model.id } });
      } catch (error) {
        toasts.fail(error, t("“{name}” was not deleted.", { name: model.name }));
        await list.load();
      }
    },
  });
}

function exportModels(ids?: readonly string[]): void {
  const query = (ids ?? []).map((id) => `ids=${encodeURIComponent(id)}`).join("&");
  const link = document.createElement("a");
  link.href = `/api/v1/models/export${query === "" ? "" : `?${query}`}`;
  link.download = "models.json";
  link.click();
}

/** The text of a file that the person chooses; undefined when they choose none. */
function chooseFile(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = "application/json,.json";
    input.addEventListener("change", () => resolve(input.files?.[0]?.text()));
    input.addEventListener("cancel", () => resolve(undefined));
    input.click();
  });
}
