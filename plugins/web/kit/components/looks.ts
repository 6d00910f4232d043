/** A floating list: menus, suggestions, pickers. */
export const menuPanel =
  "z-60 max-h-[min(70dvh,480px)] min-w-48 max-w-[min(360px,calc(100vw-16px))] overflow-y-auto rounded-lg border border-line bg-raised p-1 text-ink shadow-float outline-none";

/** A line of such a list. */
export const menuItem =
  "flex w-full cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 text-start text-base outline-none select-none data-highlighted:bg-hover data-disabled:cursor-default data-disabled:opacity-45 touch:py-2.5";
