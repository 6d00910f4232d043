/** Where signing in leads: the address that `?redirect=` names when it is of this origin, else the start. */
export function returnAddress(search: string, origin: string): string {
  const wanted = new URLSearchParams(search).get("redirect") ?? "/";
  if (!URL.canParse(wanted, origin)) {
    return "/";
  }
  const url = new URL(wanted, origin);
  const isInside = url.origin === origin && url.pathname !== "/auth";
  return isInside ? url.pathname + url.search + url.hash : "/";
}
