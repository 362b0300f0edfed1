import { z } from '@hono/zod-openapi';
import { base58Bytes } from '#core/encoding.ts';
import { iso, isoOrNull } from '#core/time.ts';
import { CustomerRef } from '#platform/http/bodies/own-fields.ts';
import { EntitlementUuid, Livemode, ObjectVersion, orNull, PaidThrough, ProductUuid, Timestamp } from '#platform/http/openapi.ts';
import type { Customer, EntitlementSnapshot } from '#rules/balance.ts';

/** Any address can be a customer, including program addresses, so only the format is checked. */
const WalletAddress = z.string().refine((text) => base58Bytes(text, 32) !== null, 'Not a Solana address');

/** Fields that name a customer. Requests send exactly one. */
export const namedCustomer = {
  wallet_address: WalletAddress.optional(),
  customer_ref: CustomerRef.optional().describe(
    'Your own name for the customer: 1 to 180 characters, no control characters, no leading or trailing space. Compared after Unicode NFC.',
  ),
};
type Named = { wallet_address?: string | undefined; customer_ref?: string | undefined };
export const namesOneCustomer = (customer: Named): boolean =>
  (customer.wallet_address === undefined) !== (customer.customer_ref === undefined);
export const ONE_CUSTOMER = { message: 'Expected exactly one of wallet_address and customer_ref' };

export const CustomerBody = z
  .object(namedCustomer)
  .refine(namesOneCustomer, ONE_CUSTOMER)
  .openapi('Customer', { example: { wallet_address: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ' } });

export const customerOf = (body: Named): Customer =>
  body.wallet_address === undefined ? { customerRef: body.customer_ref! } : { walletAddress: body.wallet_address };

const toCustomerResource = (customer: Customer): z.infer<typeof CustomerBody> =>
  'walletAddress' in customer ? { wallet_address: customer.walletAddress } : { customer_ref: customer.customerRef };

export const EntitlementBody = z
  .object({
    entitlement_id: EntitlementUuid,
    product_id: ProductUuid,
    customer: CustomerBody.describe('Customer: a wallet, or your own name for the customer. Requests name exactly one.'),
    status: z.enum(['active', 'exhausted', 'expired', 'revoked']),
    granted_units: orNull(z.int()).describe('Number of units granted; null: units are not counted.'),
    used_units: z.int(),
    remaining: orNull(z.int()).describe('Number of units left; null: no limit.'),
    paid_through: PaidThrough,
    unlimited: z.boolean().describe('True if access has neither a limit of units nor an end.'),
    livemode: Livemode,
    version: ObjectVersion,
    updated_at: Timestamp,
  })
  .openapi('Entitlement');

export const toEntitlementResource = (snapshot: EntitlementSnapshot): z.infer<typeof EntitlementBody> => ({
  entitlement_id: snapshot.entitlementId,
  product_id: snapshot.productId,
  customer: toCustomerResource(snapshot.customer),
  status: snapshot.status,
  granted_units: snapshot.grantedUnits,
  used_units: snapshot.usedUnits,
  remaining: snapshot.remaining,
  paid_through: isoOrNull(snapshot.paidThrough),
  unlimited: snapshot.unlimited,
  livemode: snapshot.livemode,
  version: snapshot.version,
  updated_at: iso(snapshot.updatedAt),
});
