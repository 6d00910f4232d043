import { chatList } from "../data/list.svelte.ts";
import { sidebar } from "./sidebar-state.svelte.ts";

const types = { chats: "application/x-millrace-chats", folder: "application/x-millrace-folder" } as const;

/** Payload of a drag. */
export type Dragged =
  | { readonly kind: "chats"; readonly ids: readonly string[] }
  | { readonly kind: "folder"; readonly id: string };

/** Chats and folders on their way to another place; other windows of this origin may take them as well. */
export const dragged = {
  chats(event: DragEvent, ids: readonly string[]): void {
    start(event, { type: types.chats, text: JSON.stringify(ids) });
    show({ canLeave: ids.some((id) => chatList.folderOf(id) !== null) });
  },

  folder(event: DragEvent, id: string): void {
    start(event, { type: types.folder, text: id });
    show({ folderId: id, canLeave: chatList.folders.find((folder) => folder.id === id)?.parent_id !== null });
  },

  end(): void {
    clearTimeout(timer);
    sidebar.drag = undefined;
  },

  /** What is over a place, as far as a drag says before it is dropped. */
  kind(event: DragEvent): Dragged["kind"] | undefined {
    const held = event.dataTransfer?.types ?? [];
    if (held.includes(types.chats)) {
      return "chats";
    }
    return held.includes(types.folder) ? "folder" : undefined;
  },

  accept(event: DragEvent): void {
    event.preventDefault();
    if (event.dataTransfer) {
      event.dataTransfer.dropEffect = "move";
    }
  },

  drop(event: DragEvent): Dragged | undefined {
    dragged.end();
    const chats = event.dataTransfer?.getData(types.chats);
    const id = event.dataTransfer?.getData(types.folder);
    if (chats || id) {
      event.preventDefault();
      event.stopPropagation();
    }
    if (chats) {
      return { kind: "chats", ids: JSON.parse(chats) as string[] };
    }
    return id ? { kind: "folder", id } : undefined;
  },
};

function start(event: DragEvent, { type, text }: { type: string; text: string }): void {
  event.dataTransfer?.setData(type, text);
  if (event.dataTransfer) {
    event.dataTransfer.effectAllowed = "copyMove";
  }
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** The page may change only after the drag began; a change before that ends it in some browsers. */
function show(drag: NonNullable<typeof sidebar.drag>): void {
  timer = setTimeout(() => (sidebar.drag = drag));
}
