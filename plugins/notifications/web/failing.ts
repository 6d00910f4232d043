interface Tried {
  readonly status: "pending" | "delivered" | "failed";
  readonly last_error: string | null;
}

/** The failures since the last delivery that arrived, the latest first. */
export function toFailing<Delivery extends Tried>(deliveries: readonly Delivery[]): readonly Delivery[] {
  const tried = deliveries.filter(
    ({ last_error: error, status }) => error !== null || status === "delivered",
  );
  const arrived = tried.findIndex(({ status }) => status === "delivered");
  return arrived < 0 ? tried : tried.slice(0, arrived);
}
