type Bag = Readonly<Record<string, unknown>>;

/** Fills what `own` leaves out from the instance's metadata; capabilities are merged key by key, the model's win. */
export function fillMetadata(own: Bag, defaults: Bag): Bag {
  const capabilities = mergeBags(toFlags(defaults["capabilities"]), toFlags(own["capabilities"]));
  const merged = { ...defaults, ...withoutEmpty(own) };
  return capabilities ? { ...merged, capabilities } : merged;
}

/** Fills what `own` leaves out from the instance's parameters; custom_params are merged by entry. */
export function fillParameters(own: Bag, defaults: Bag): Bag {
  const custom = mergeBags(toBag(defaults["custom_params"]), toBag(own["custom_params"]));
  const merged = { ...defaults, ...withoutEmpty(own) };
  return custom ? { ...merged, custom_params: custom } : merged;
}

/** Capabilities come as an object of booleans, or as an array of the names that are on. */
function toFlags(value: unknown): Bag | undefined {
  if (Array.isArray(value)) {
    return Object.fromEntries(value.filter((name) => typeof name === "string").map((name) => [name, true]));
  }
  return toBag(value);
}

function toBag(value: unknown): Bag | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : undefined;
}

function mergeBags(base: Bag | undefined, own: Bag | undefined): Bag | undefined {
  return base || own ? { ...base, ...own } : undefined;
}

function withoutEmpty(bag: Bag): Bag {
  return Object.fromEntries(Object.entries(bag).filter(([, value]) => value !== null && value !== undefined));
}
