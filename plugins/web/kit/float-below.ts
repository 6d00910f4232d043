import type { Attachment } from "svelte/attachments";

const gap = 4;
const margin = 8;
const highest = 240;

/**
 * Shows a list over everything else, below its field, or above it where the list would cover the buttons of a dialog or
 * leave the window. It takes no place in the layout: a dialog that shrank when the list closed would move its buttons
 * away from under a press.
 */
export const floatBelow =
  (field: () => HTMLElement | undefined): Attachment<HTMLElement> =>
  (list) => {
    list.popover = "manual";
    list.showPopover();
    const place = () => {
      const box = field()?.getBoundingClientRect();
      if (box === undefined) {
        return;
      }
      const footer = field()?.closest("[role=dialog]")?.querySelector("[data-footer]");
      const end = footer ? footer.getBoundingClientRect().top : innerHeight;
      const [below, above] = [end - box.bottom - gap - margin, box.top - gap - margin];
      const isBelow = below >= Math.min(highest, list.scrollHeight) || below >= above;
      Object.assign(list.style, {
        inset: "auto",
        left: `${box.left}px`,
        width: `${box.width}px`,
        maxHeight: `${Math.min(highest, isBelow ? below : above)}px`,
        top: isBelow ? `${box.bottom + gap}px` : "auto",
        bottom: isBelow ? "auto" : `${innerHeight - box.top + gap}px`,
      });
    };
    place();
    const sizes = new ResizeObserver(place);
    sizes.observe(list);
    addEventListener("scroll", place, { capture: true, passive: true });
    addEventListener("resize", place);
    return () => {
      sizes.disconnect();
      removeEventListener("scroll", place, { capture: true });
      removeEventListener("resize", place);
    };
  };
