import type { Product, Shop } from '../../book/history.ts';
import { Caller } from './caller.ts';
import type { Merchant, World } from './open-shop.ts';

/** Bounds of the time between two steps of an actor: most follow at once, few after a session has ended. */
const PAUSES_MS = [0, 0, 0, 0, 200, 5_000, 5_000, 40_000, 40_000, 300_000];

/** Participant of a history. Each step is one verb, chosen by the actor's own dice. */
export abstract class Actor extends Caller {
  readonly world: World;
  readonly merchants: readonly Merchant[];

  constructor(name: string, means: ConstructorParameters<typeof Caller>[1], world: World, merchants: readonly Merchant[]) {
    super(name, means);
    this.world = world;
    this.merchants = merchants;
  }

  /** Verbs by name. One that is listed twice is chosen twice as often. */
  abstract readonly verbs: readonly (() => Promise<unknown>)[];

  async step(): Promise<void> {
    const pause = this.dice.oneOf(PAUSES_MS);
    if (pause > 0) await this.host.advance(this.dice.below(pause));
    await this.dice.oneOf(this.verbs).call(this);
  }

  anyMerchant(): Merchant {
    return this.dice.oneOf(this.merchants);
  }

  /** Returns a product of the mode that sells units or time. Null if faults prevented it from being made. */
  anyProduct(shop: Shop, livemode: boolean, sells: 'units' | 'time' | 'any' = 'any'): Product | null {
    const fits = ({ units }: Product) => sells === 'any' || (units !== null) === (sells === 'units');
    const products = shop.products.filter((product) => product.livemode === livemode && fits(product));
    return products.length === 0 ? null : this.dice.oneOf(products);
  }
}
