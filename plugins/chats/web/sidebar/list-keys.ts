import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { expandFolder } from "../data/folder-changes.ts";
import { removeChats } from "../data/list-changes.ts";
import { chatList } from "../data/list.svelte.ts";
import type { Row } from "./rows.ts";
import { selection } from "./selection.svelte.ts";
import { sidebar } from "./sidebar-state.svelte.ts";

interface Keyed {
  /** The rows that take the focus. */
  readonly items: readonly Row[];
  focus(key: string | undefined): unknown;
}

/** Arrows, Home and End move between rows, left and right close and open folders, F2 renames, Delete deletes. */
export function pressInList(event: KeyboardEvent, { items, focus }: Keyed): void {
  const key = (event.target as Element).getAttribute("data-row");
  const index = items.findIndex((row) => row.key === key);
  const row = items[index];
  if (!row || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const to = { ArrowDown: index + 1, ArrowUp: Math.max(0, index - 1), Home: 0, End: items.length - 1 }[
    event.key
  ];
  if (to !== undefined) {
    event.preventDefault();
    focus(items[to]?.key);
  } else if (event.key === "F2" && (row.kind === "chat" || row.kind === "folder")) {
    event.preventDefault();
    sidebar.rename(row.key);
  } else if (event.key === "Delete" && row.kind === "chat" && session.may("chat.delete")) {
    event.preventDefault();
    removeChats(selection.has(row.chat.id) ? [...selection.ids] : [row.chat.id]);
    selection.end();
    focus((items[index + 1] ?? items[index - 1])?.key);
  } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const isOpen = event.key === (document.dir === "rtl" ? "ArrowLeft" : "ArrowRight");
    if (row.kind === "folder" && row.folder.is_expanded !== isOpen) {
      event.preventDefault();
      void expandFolder(row.folder.id, isOpen);
    } else if (row.kind === "shared-folder" && row.isOpen !== isOpen) {
      event.preventDefault();
      void chatList.shared.toggle(row.folder.id, isOpen);
    }
  } else if (event.key === "Escape" && selection.isOn) {
    event.preventDefault();
    selection.end();
  }
}
