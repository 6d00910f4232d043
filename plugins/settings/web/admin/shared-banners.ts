import { Meanwhile } from "#plugins/web/kit/meanwhile.ts";
import { type Banner, joinOrder } from "./banners.ts";

type Bag = Readonly<Record<string, Banner | undefined>>;

/** Joins the banners of this window with those of others, one by one: no window takes away what it has not seen. */
export class SharedBanners {
  readonly #read: () => Promise<readonly Banner[]>;
  #seen: readonly Banner[] = [];
  #stored: readonly Banner[] = [];
  readonly #meanwhile = new Meanwhile<Bag>({}, async () => toBag(this.#stored));

  constructor(read: () => Promise<readonly Banner[]>) {
    this.#read = read;
  }

  /** Told what the page shows from now on as stored. */
  sees(banners: readonly Banner[]): void {
    this.#seen = banners;
    this.#meanwhile.sees(toBag(banners));
  }

  /** Resolves to the list to store. Throws what `FormState` shows, by the ids of the banners that both changed. */
  async join(typed: readonly Banner[]): Promise<Banner[]> {
    this.#stored = await this.#read();
    const order = joinOrder({ seen: this.#seen, stored: this.#stored, typed });
    // A banner that this window removed, or never had, is typed as missing.
    const missing = Object.fromEntries([...this.#seen, ...this.#stored].map(({ id }) => [id, undefined]));
    const joined = await this.#meanwhile.join({ ...missing, ...toBag(typed) });
    return order.flatMap((id) => joined[id] ?? []);
  }
}

const toBag = (banners: readonly Banner[]): Bag =>
  Object.fromEntries(banners.map((banner) => [banner.id, banner]));
