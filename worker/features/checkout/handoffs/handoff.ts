import { equalBytes, hmacSha256 } from '#core/crypto.ts';
import { base64url, hex, utf8 } from '#core/encoding.ts';
import { ApiError, err, ok, type Result, raise } from '#core/errors.ts';
import { type HandoffId, newId, type PaymentId, type ProductId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { MINUTE, SECOND, unixSeconds } from '#core/time.ts';
import { findActiveListing, findOrphan, getProduct, type Listing } from '#features/products/product.ts';
import { requireWallet } from '#platform/chain/payees.ts';
import type { Config, Ctx, Scope, Shard } from '#platform/context.ts';
import { commitNew } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import { ensureNamedCustomer } from '#platform/db/search/new-customer.ts';
import type { Handoff } from '#platform/db/tables/checkout.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { Customer } from '#rules/balance.ts';
import { findHandoff, insertHandoff } from '../sessions/store.ts';

const PREFIX = 'ho_';
const ID_BYTES = 16;
const EXPIRY_BYTES = 4;
const MAC_BYTES = 16;
const LENGTH = ID_BYTES + EXPIRY_BYTES + MAC_BYTES;

const macOf = (key: Uint8Array, productId: string, named: Uint8Array): Uint8Array =>
  hmacSha256(key, utf8(JSON.stringify(['handoff', productId, base64url.encode(named)]))).slice(0, MAC_BYTES);

const keysOf = (secrets: string): Uint8Array[] => secrets.split(',').map((seed) => base64url.decode(seed));

/** Token format: `ho_` + base64url(id 16 | expiry 4, seconds | MAC 16). The first secret signs. */
function newHandoffToken(secrets: string, productId: string, handoffId: HandoffId, expiresAt: number): string {
  const bytes = new Uint8Array(LENGTH);
  bytes.set(hex.decode(handoffId.replaceAll('-', '')));
  new DataView(bytes.buffer).setUint32(ID_BYTES, unixSeconds(expiresAt));
  bytes.set(macOf(keysOf(secrets)[0]!, productId, bytes.subarray(0, ID_BYTES + EXPIRY_BYTES)), ID_BYTES + EXPIRY_BYTES);
  return PREFIX + base64url.encode(bytes);
}

interface NamedHandoff {
  handoffId: HandoffId;
  expiresAt: number;
}

function parseHandoffToken(secrets: string, productId: string, token: string): Result<NamedHandoff, 'forged'> {
  if (!/^ho_[\w-]{48}$/.test(token)) return err('forged');
  const bytes = base64url.decode(token.slice(PREFIX.length));
  const [named, mac] = [bytes.subarray(0, ID_BYTES + EXPIRY_BYTES), bytes.subarray(ID_BYTES + EXPIRY_BYTES)];
  const isOurs = keysOf(secrets)
    .map((key) => equalBytes(macOf(key, productId, named), mac))
    .includes(true);
  if (!isOurs) return err('forged');
  const id = hex.encode(bytes.subarray(0, ID_BYTES));
  const handoffId = [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20)].join('-') as HandoffId;
  return ok({ handoffId, expiresAt: new DataView(bytes.buffer, bytes.byteOffset).getUint32(ID_BYTES) * SECOND });
}

const HANDOFF_MS = LIFE.handoffMinutes * MINUTE;

interface HandoffInput {
  customerRef?: string;
  email?: string;
  walletAddress?: string;
  successUrl?: string;
  metadata?: Record<string, string>;
}

export interface CreatedHandoff {
  token: string;
  product: Product;
  expiresAt: number;
}

/**
 * Creates a link for a buyer that the merchant's server knows. Throws 404, 409 state_conflict for an archived product, 422
 * invalid_wallet_address, 503 handoff_not_configured.
 */
export async function createHandoff(
  ctx: Scope,
  { productId, ...input }: HandoffInput & { productId: ProductId },
  storeAnswer: StoreAnswer<CreatedHandoff>,
): Promise<CreatedHandoff> {
  if (input.walletAddress !== undefined) requireWallet(input.walletAddress);
  const product = await getProduct(ctx, productId);
  if (product.status !== 'active')
    throw new ApiError('state_conflict', { detail: 'The product is archived. Unarchive it first.', meta: { reason: 'product_active' } });
  const secrets = requireSecrets(ctx.config);
  // The token has seconds without a fraction, so row and answer use the same.
  const expiresAt = Math.floor((ctx.now + HANDOFF_MS) / SECOND) * SECOND;
  const handoff: Handoff = {
    id: newId<HandoffId>(ctx.now, product.merchantId),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    customerRef: input.customerRef ?? null,
    email: input.email?.trim().toLowerCase() ?? null,
    walletAddress: input.walletAddress ?? null,
    successUrl: input.successUrl ?? null,
    metadata: input.metadata ?? null,
    paymentId: null,
    expiresAt,
    createdAt: ctx.now,
  };
  const result = { token: newHandoffToken(secrets, product.id, handoff.id, expiresAt), product, expiresAt };
  const writes = [insertHandoff(ctx.db, handoff), ...keysOfBuyer(input).map((key) => ensureNamedCustomer(ctx, key))];
  const change = await withAnswer({ events: [], writes, result }, storeAnswer(result));
  return commitNew(ctx, change, () => findHandoff(ctx.db, handoff.id));
}

/** Customer that a hand-off names, if it does. */
function keysOfBuyer({ customerRef, walletAddress }: HandoffInput): Customer[] {
  if (customerRef !== undefined) return [{ customerRef }];
  return walletAddress === undefined ? [] : [{ walletAddress }];
}

/** Verifies a token without loading the hand-off. Throws 403 handoff_secret_mismatch, 503 handoff_not_configured. */
export function verifyHandoff(config: Config, productId: ProductId, token: string): NamedHandoff {
  const parsed = parseHandoffToken(requireSecrets(config), productId, token);
  if (!parsed.ok) throw new ApiError('handoff_secret_mismatch');
  return parsed.value;
}

/**
 * Loads a hand-off that is unused, or used for the payment `running`. Throws 410 handoff_expired otherwise. The error of a used one names
 * its payment, so that a buyer with a lost answer can go on.
 */
export async function getHandoff(ctx: Shard, named: NamedHandoff, running: PaymentId | null = null): Promise<Handoff> {
  const handoff = await findHandoff(ctx.db, named.handoffId);
  if (handoff?.paymentId && handoff.paymentId === running) return handoff;
  if (handoff?.paymentId) throw usedHandoff(ctx, handoff.paymentId);
  // The row may end before its token: an account deletion ends its hand-offs.
  if (!handoff || ctx.now >= Math.min(named.expiresAt, handoff.expiresAt))
    throw new ApiError('handoff_expired', { meta: { reason: 'expired' } });
  return handoff;
}

/**
 * Loads an unused hand-off and the active product that it leads to. Throws 404 for an unknown or archived product. If its account was
 * deleted since, 410 handoff_expired, as for any hand-off that is over.
 */
export async function loadHandoff(shard: Shard, slug: string, token: string): Promise<{ listing: Listing; handoff: Handoff }> {
  const listing = await findActiveListing(shard.db, slug);
  const { id: productId } = listing?.product ?? (await findOrphan(shard.db, slug)) ?? raise('not_found');
  const named = verifyHandoff(shard.config, productId, token);
  if (!listing) throw new ApiError('handoff_expired', { meta: { reason: 'expired' } });
  return { listing, handoff: await getHandoff(shard, named) };
}

/** Returns the expected buyer wallet. Drops the merchant's own wallet: a transfer to itself pays nothing. */
export const hintOf = ({ walletAddress }: Handoff, recipientWallet: string): string | null =>
  walletAddress === recipientWallet ? null : walletAddress;

/** Throws after an aborted batch: the faster request has the hand-off's payment. */
export async function requireUnused(ctx: Shard, { id }: Handoff): Promise<void> {
  const handoff = (await findHandoff(ctx.db, id)) ?? raise('handoff_expired', { meta: { reason: 'expired' } });
  if (handoff.paymentId) throw usedHandoff(ctx, handoff.paymentId);
}

const usedHandoff = ({ baseUrl }: Ctx, paymentId: PaymentId): ApiError =>
  new ApiError('handoff_expired', {
    detail: 'The hand-off was used. Its payment continues at meta.status_url.',
    meta: { reason: 'used', payment_id: paymentId, status_url: `${baseUrl}/v1/payments/${paymentId}` },
  });

function requireSecrets(config: Config): string {
  return config.HANDOFF_SECRETS ?? raise('handoff_not_configured', { meta: { missing: ['HANDOFF_SECRETS'] } });
}

/** Returns a masked label: the buyer recognises it, another reader cannot identify the buyer. */
export function labelOf({ email, customerRef, walletAddress }: Handoff): string | null {
  const [name, domain] = email?.split('@') ?? [];
  if (name && domain)
    return `${startOf(name)}@${startOf(domain.slice(0, domain.lastIndexOf('.')))}${domain.slice(domain.lastIndexOf('.'))}`;
  if (customerRef) return customerRef.length > 8 ? `${customerRef.slice(0, 2)}…${customerRef.slice(-2)}` : '…';
  return walletAddress && `${walletAddress.slice(0, 4)}…${walletAddress.slice(-4)}`;
}
const startOf = (text: string): string => `${[...text].slice(0, [...text].length > 4 ? 2 : 1).join('')}…`;
