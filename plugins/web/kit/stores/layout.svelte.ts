import { remembered } from "./remembered.svelte.ts";

const width = remembered("sidebar.width", 280);
const isCollapsed = remembered("sidebar.collapsed", false);

/** Where the parts of the frame stand. */
class Layout {
  /** The drawer of phones. */
  isDrawerOpen = $state(false);
  isPaletteOpen = $state(false);
  isHelpOpen = $state(false);

  get sidebarWidth(): number {
    return width.value;
  }

  set sidebarWidth(next: number) {
    width.value = next;
  }

  get isSidebarCollapsed(): boolean {
    return isCollapsed.value;
  }

  set isSidebarCollapsed(next: boolean) {
    isCollapsed.value = next;
  }
}

export const layout = new Layout();
