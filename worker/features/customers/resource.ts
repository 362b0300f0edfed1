import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import type { CustomerRow } from '#platform/db/tables/entitlements.ts';
import { ShownName, ShownText } from '#platform/http/bodies/own-fields.ts';
import { given, Livemode, ObjectVersion, Timestamp } from '#platform/http/openapi.ts';
import { type Counts, countsOf, paymentsOf, sumsByAsset } from '#rules/analytics/metrics.ts';
import { CUSTOMER } from '#rules/states.ts';
import { parseTotals } from './fold.ts';
import type { Access } from './store.ts';

export const CustomerUuid = z.uuid();
export const EmailAddress = z.email().max(254);

export const CompanyBody = z
  .object({
    name: ShownName(200).optional(),
    address: ShownText(500).optional(),
    tax_id: ShownName(64).optional(),
    email: EmailAddress.optional(),
  })
  .openapi('Company');

const SumBody = z.object({ gross: z.string(), refunded: z.string() }).openapi('CustomerSums');

export const CustomerRecordBody = z
  .object({
    customer_id: CustomerUuid,
    customer_ref: z.string().optional(),
    wallets: z.array(z.object({ address: z.string(), source: z.enum(['key', 'payment']) })),
    emails: z.array(z.object({ email: z.string(), source: z.enum(['checkout', 'merchant']) })),
    name: z.string().optional(),
    company: CompanyBody.optional(),
    metadata: z.record(z.string(), z.string()),
    totals: z.object({ payments: z.int(), USDC: SumBody, SOL: SumBody }),
    access: z.object({ active: z.int(), lapsed: z.int() }).describe('Number of products with access, and of those that had it.'),
    merged_from: z.array(CustomerUuid),
    first_seen_at: Timestamp,
    last_seen_at: Timestamp,
    status: z.enum(CUSTOMER.states),
    livemode: Livemode,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: ObjectVersion,
  })
  .openapi('CustomerRecord');
export type CustomerResource = z.infer<typeof CustomerRecordBody>;

/** Request of a buyer, who proved the wallet or address, or came by the merchant's own link. */
export const ErasureRequestBody = z
  .object({
    erasure_id: z.uuid(),
    customer_ids: z.array(CustomerUuid).describe('Customers that the buyer is, or bought for.'),
    wallet_address: z.string().optional(),
    email: z.string().optional(),
    requested_at: Timestamp,
  })
  .openapi('ErasureRequest');
export type ErasureRequest = z.infer<typeof ErasureRequestBody>;

/** Customer as it is shown. */
export interface ShownCustomer {
  row: CustomerRow;
  access: Access;
  /** Customers that were merged into this one. */
  merged: readonly CustomerRow[];
}

export const NO_ACCESS: Access = { active: 0, lapsed: 0 };

/** Presents a customer with the sums, wallets and addresses of those that were merged into it. */
export function toCustomerResource({ row, access, merged }: ShownCustomer): CustomerResource {
  const rows = [row, ...merged];
  const counts = rows.reduce<Counts>((sum, { totals }) => countsOf(sum, parseTotals(totals)), {});
  const wallets = new Set(rows.flatMap((one) => [...one.wallets, ...(one.walletAddress === null ? [] : [one.walletAddress])]));
  const noted = rows.flatMap((one) => one.email ?? []);
  const { USDC, SOL } = sumsByAsset(counts);
  const shown = ({ gross, refunded }: { gross: string; refunded: string }) => ({ gross, refunded });
  const found = rows.flatMap(({ emails }) => emails).filter((email) => !noted.includes(email));
  return {
    customer_id: row.id,
    ...given('customer_ref', row.customerRef),
    wallets: [...wallets].map((address) => ({ address, source: address === row.walletAddress ? 'key' : 'payment' })),
    emails: [
      ...[...new Set(noted)].map((email) => ({ email, source: 'merchant' as const })),
      ...[...new Set(found)].map((email) => ({ email, source: 'checkout' as const })),
    ],
    ...given('name', row.name),
    ...given('company', row.company),
    metadata: row.metadata,
    totals: { payments: paymentsOf(counts), USDC: shown(USDC), SOL: shown(SOL) },
    access,
    merged_from: merged.map(({ id }) => id),
    first_seen_at: iso(Math.min(...rows.map(({ firstSeenAt }) => firstSeenAt))),
    last_seen_at: iso(Math.max(...rows.map(({ lastSeenAt }) => lastSeenAt))),
    status: row.status,
    livemode: row.livemode,
    created_at: iso(row.createdAt),
    updated_at: iso(row.updatedAt),
    version: row.version,
  };
}
