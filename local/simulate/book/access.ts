import type { History, Holding, Product } from './history.ts';
import type { Body } from './host.ts';
import { type Books, isBooked } from './payments.ts';
import { type Reader, unitsOf } from './reader.ts';

/** Judges that units granted less units used equal units left, for every customer of every product that sells units. */
export async function judgeAccess(reader: Reader, history: History, books: readonly Books[]): Promise<void> {
  for (const { shop, livemode, key, payments } of books) {
    for (const product of shop.products) {
      if (product.livemode !== livemode || product.units === null) continue;
      const listed = await reader.list(`/v1/access/entitlements?product_id=${product.productId}`, key);
      const bought = payments.filter((one) => one.product_id === product.productId && one.kind !== 'metered' && isBooked(one));
      const holdings = history.holdings.filter((holding) => holding.product === product);
      for (const entitlement of listed) {
        const holding = holdings.find(({ customer }) => isOf(customer, entitlement.customer));
        judgeHolding(reader, {
          name: `${shop.name}, ${product.slug}`,
          entitlement,
          holding,
          units: sumOf(
            bought.filter((one) => paysFor(one, entitlement)),
            product,
          ),
        });
      }
      for (const payment of bought)
        reader.expect(
          listed.some((one) => paysFor(payment, one)),
          () => `payment ${payment.payment_id} gave nobody units`,
        );
    }
  }
}

interface Judged {
  name: string;
  entitlement: Body;
  holding: Holding | undefined;
  /** Units of the customer's payments. */
  units: number;
}

function judgeHolding(reader: Reader, { name, entitlement, holding, units }: Judged): void {
  const { granted = 0, used = 0, returned = 0 } = holding ?? {};
  const left = units + granted - used + returned;
  const { remaining, entitlement_id } = entitlement;
  reader.expect(remaining === left, () => {
    return `entitlement ${entitlement_id} (${name}) has ${remaining} units left; ${units} paid + ${granted} given - ${used} used + ${returned} returned = ${left}`;
  });
  reader.expect(left >= 0, () => `entitlement ${entitlement_id} (${name}) served ${-left} units more than it had`);
}

/** Units of what was paid: an x402 payment may buy several times what the product sells once, any other buys it once. */
const sumOf = (payments: readonly Body[], { units, priceUnits }: Product): number =>
  payments.reduce((total, { kind, price }) => total + (kind === 'x402' ? Number(unitsOf(price) / priceUnits) : 1) * (units ?? 0), 0);

const isOf = (customer: { wallet_address?: string; customer_ref?: string }, other: Body): boolean =>
  customer.wallet_address === other.wallet_address && customer.customer_ref === other.customer_ref;

/** True if a payment buys units of this customer: of the one it references, otherwise of its payer. */
function paysFor(payment: Body, { customer }: Body): boolean {
  return payment.customer_ref ? customer.customer_ref === payment.customer_ref : customer.wallet_address === payment.payer_wallet;
}

/** Failures of one step in a row after which a scenario gives up. */
const GIVES_UP_AFTER = 15;

/** Judges that every sandbox scenario ends, with each event that it promises. With too few faults to give up, it completes. */
export async function judgeScenarios(reader: Reader, history: History): Promise<void> {
  for (const { shop, sessionId, scenario, expected } of history.scenarios) {
    const session = await reader.get(`/v1/testing/sessions/${sessionId}`, shop.sandboxKey);
    if (session === null) continue;
    const types: string[] = session.steps.flatMap(({ event_type }: Body) => event_type ?? []);
    reader.expect(session.status !== 'running', () => `scenario ${scenario} runs for ever`);
    if (session.status === 'failed' && (reader.host.faults?.() ?? 0) >= GIVES_UP_AFTER) continue;
    reader.expect(
      session.status === 'completed',
      () => `scenario ${scenario} is ${session.status}: ${JSON.stringify(session.steps.at(-1))}`,
    );
    const countOf = (among: readonly string[], type: string) => among.filter((one) => one === type).length;
    const missing = [...new Set(expected)].filter((type) => countOf(types, type) < countOf(expected, type));
    reader.expect(missing.length === 0, () => `scenario ${scenario} had no ${missing.join(', ')}`);
  }
}
