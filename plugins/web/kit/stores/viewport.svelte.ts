import { MediaQuery } from "svelte/reactivity";

const phone = new MediaQuery("max-width: 767px");
const coarse = new MediaQuery("pointer: coarse");

/** What kind of window this is; 768 px and more count as a desk. */
export const viewport = {
  get isPhone(): boolean {
    return phone.current;
  },
  get isTouch(): boolean {
    return coarse.current;
  },
};
