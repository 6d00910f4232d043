import type { Attachment } from "svelte/attachments";
import { drawFormulas } from "./formulas.ts";
import { showPictures } from "./remote-pictures.svelte.ts";

/**
 * Fills an element with HTML that the sanitizer wrote, then draws its formulas and shows its pictures. The element has
 * no other children: those two replace nodes, which a template would look for when it changes.
 */
export const markup =
  (html: string): Attachment<HTMLElement> =>
  (element) => {
    element.innerHTML = html;
    drawFormulas(element);
    // Runs again when one of the pictures arrives.
    $effect(() => showPictures(element));
  };
