/** What of the sidebar's lines is being changed. */
class SidebarState {
  /** The key of the row whose name is a field. */
  renaming = $state<string>();
  /** The key of the row that keys move from. */
  focused = $state<string>();
  /** The chat whose link is shown. */
  sharedId = $state<string>();
  /** The chat whose tags are edited. */
  taggedId = $state<string>();
  /** The folder of which it is said who may read it. */
  sharedFolder = $state.raw<{ readonly id: string; readonly name: string }>();
  /** What is being dragged from a list of this window: a folder, or chats; `canLeave` when it lies in a folder. */
  drag = $state.raw<{ readonly folderId?: string; readonly canLeave: boolean }>();
  /** The folder whose dialog is open; without an id a new one, inside `parentId`. */
  folder = $state.raw<{
    readonly id?: string;
    readonly parentId?: string | null;
    readonly chatIds?: readonly string[];
  }>();

  /** Menus give the focus back when they close; a field would lose it again. */
  rename(key: string): void {
    setTimeout(() => (this.renaming = key), 80);
  }
}

export const sidebar = new SidebarState();
