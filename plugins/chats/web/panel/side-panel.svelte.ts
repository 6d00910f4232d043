import { preview } from "#plugins/web/kit/stores/preview.svelte.ts";

/** Content of the panel right of the chat: its settings, files or branches, or the passages that a reply cites. */
export type ShownPanel =
  | { readonly kind: "controls" | "files" | "branches" }
  | { readonly kind: "plugin"; readonly id: string }
  | { readonly kind: "sources"; readonly messageId: string; readonly chosen: number | undefined };

/** The panel right of the chat. There is room for one: what opens takes the place of what was there. */
class SidePanelStore {
  shown = $state.raw<ShownPanel>();

  open(panel: ShownPanel): void {
    preview.close();
    this.shown = panel;
  }

  /** A panel of another plugin. */
  togglePlugin(id: string): void {
    if (this.shown?.kind === "plugin" && this.shown.id === id) {
      this.close();
    } else {
      this.open({ kind: "plugin", id });
    }
  }

  toggleControls(): void {
    if (this.shown?.kind === "controls") {
      this.close();
    } else {
      this.open({ kind: "controls" });
    }
  }

  close(): void {
    this.shown = undefined;
  }
}

export const sidePanel = new SidePanelStore();
