/** What the error answer of a pipelines server says in `detail`, as text; undefined when it says nothing. */
export function findDetail(body: string): string | undefined {
  let detail: unknown;
  try {
    detail = (JSON.parse(body) as { detail?: unknown } | null)?.detail;
  } catch {
    return undefined;
  }
  if (detail === undefined || detail === null || detail === "") {
    return undefined;
  }
  return (typeof detail === "string" ? detail : JSON.stringify(detail)).slice(0, longest);
}

const longest = 4000;
