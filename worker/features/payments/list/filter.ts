import { z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { OWN_NAME_MAX } from '#core/limits.ts';
import { ASSETS, parseAmount } from '#core/money.ts';
import { SEARCHED_MAX } from '#platform/db/search/named.ts';
import { OwnName } from '#platform/http/bodies/own-fields.ts';
import { idOf } from '#platform/http/openapi.ts';
import { originOf, RAIL_IDS } from '#rules/product-rails.ts';
import { RAILS } from '#rules/rails.ts';
import { PAYMENT } from '#rules/states.ts';
import type { PaymentFilter } from './store.ts';

const Instant = (description: string) =>
  z
    .union([z.iso.datetime({ offset: true }), z.iso.date()])
    .optional()
    .openapi({ type: 'string', format: 'date-time', description });
const Amount = z
  .string()
  .refine((text) => parseAmount('SOL', text).ok, 'Expected a decimal of at most nine places')
  .optional();

/** What a merchant's list of payments is narrowed by. */
export const FilterQuery = {
  status: z.enum(PAYMENT.states).optional(),
  product_id: idOf<ProductId>().optional(),
  customer_ref: OwnName.optional(),
  wallet: z.string().max(64).optional().openapi({ description: 'The wallet that paid.' }),
  tx_signature: z.string().max(100).optional(),
  rail_id: z.enum(RAIL_IDS).optional(),
  asset: z.enum(ASSETS).optional(),
  created_from: Instant('From this moment on; a date is its beginning in UTC.'),
  created_to: Instant('Up to this moment, which is not included.'),
  min_amount: Amount.openapi({ description: 'Of the price, in whole units of its asset.' }),
  max_amount: Amount,
  q: z
    .string()
    .trim()
    .min(1)
    .max(OWN_NAME_MAX)
    .optional()
    .openapi({
      description:
        'The beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet or e-mail address. If none begins ' +
        'with it: a memo, or part of a customer’s reference or a product’s name. These words, rail, asset and amounts look through the ' +
        `${SEARCHED_MAX.toLocaleString('en')} newest payments that the other filters leave.`,
    }),
};

const at = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));
const billionths = (text: string | undefined): bigint | undefined => {
  const parsed = text === undefined ? null : parseAmount('SOL', text);
  return parsed?.ok ? parsed.value.units : undefined;
};

/** Two moments or two amounts of a query, the lower of which must not be above the other. */
const RANGES = [
  ['created_from', 'created_to', at],
  ['min_amount', 'max_amount', billionths],
] as const;

/** Adds a problem for every range that begins behind its end. */
export const refuseReversed: z.core.CheckFn<Query> = ({ value, issues }) => {
  for (const [low, high, parsed] of RANGES) {
    const [from, to] = [parsed(value[low]), parsed(value[high])];
    if (from === undefined || to === undefined || from <= to) continue;
    issues.push({
      code: 'custom',
      input: value,
      path: [high],
      message: `Expected ${high} not to be below ${low}`,
      params: { type: 'reversed_range' },
    });
  }
};

type Query = { [K in keyof typeof FilterQuery]?: z.infer<(typeof FilterQuery)[K]> };

/** The filter of a query. Two that contradict each other leave nothing. */
export function filterOf(query: Query): PaymentFilter {
  const { rail_id: railId, asset } = query;
  const railAsset = railId && RAILS[railId].asset;
  return {
    status: query.status,
    productId: query.product_id,
    customerRef: query.customer_ref,
    wallet: query.wallet,
    txSignature: query.tx_signature,
    q: query.q,
    createdFrom: at(query.created_from),
    createdTo: at(query.created_to),
    asset: asset ?? railAsset,
    origin: railId && originOf(railId),
    ...(asset && railAsset && asset !== railAsset ? { paymentId: '' } : {}),
    leastAmount: billionths(query.min_amount),
    mostAmount: billionths(query.max_amount),
  };
}
