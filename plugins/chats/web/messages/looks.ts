/** Actions of a message: there on hover and focus, always where there is no mouse. */
export const actionBar =
  "flex flex-wrap items-center gap-0.5 transition-opacity pointer-fine:opacity-0 group-focus-within/message:opacity-100! group-hover/message:opacity-100! has-[[data-state=open]]:opacity-100!";

/** Actions of the newest reply stay in sight. */
export const lastActionBar = "flex flex-wrap items-center gap-0.5";
