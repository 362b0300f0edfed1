import { z } from '@hono/zod-openapi';
import { base58Bytes } from '#core/encoding.ts';
import { iso, isoOrNull } from '#core/time.ts';
import { OwnName } from '#platform/http/bodies/own-fields.ts';
import { orNull, Timestamp } from '#platform/http/openapi.ts';
import type { Customer, EntitlementSnapshot } from '#rules/balance.ts';

/** Any address can be a customer, programs' among them; only its form is checked. */
const WalletAddress = z.string().refine((text) => base58Bytes(text, 32) !== null, 'Not a Solana address');

/** Who an entitlement belongs to: exactly one of the two. */
export const CustomerBody = z
  .object({ wallet_address: WalletAddress.optional(), customer_ref: OwnName.optional() })
  .refine((customer) => (customer.wallet_address === undefined) !== (customer.customer_ref === undefined), {
    message: 'Name exactly one of wallet_address and customer_ref',
  })
  .openapi('Customer', { example: { wallet_address: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ' } });

export const customerOf = (body: z.infer<typeof CustomerBody>): Customer =>
  body.wallet_address === undefined ? { customerRef: body.customer_ref! } : { walletAddress: body.wallet_address };

const toCustomerResource = (customer: Customer): z.infer<typeof CustomerBody> =>
  'walletAddress' in customer ? { wallet_address: customer.walletAddress } : { customer_ref: customer.customerRef };

export const EntitlementBody = z
  .object({
    entitlement_id: z.uuid(),
    product_id: z.uuid(),
    customer: CustomerBody,
    status: z.enum(['active', 'exhausted', 'expired', 'revoked']),
    granted_units: orNull(z.int()).openapi({ description: 'null while use is not counted.' }),
    used_units: z.int(),
    remaining: orNull(z.int()),
    paid_through: orNull(Timestamp),
    unlimited: z.boolean().openapi({ description: 'True if neither a number of units nor a time ends the access.' }),
    livemode: z.boolean(),
    version: z.int(),
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
