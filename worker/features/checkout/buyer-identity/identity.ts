import { ApiError } from '#core/errors.ts';
import { type IdentitySessionId, newId, type ProductId, partitionOf } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { MINUTE } from '#core/time.ts';
import { getActiveListing } from '#features/products/product.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commitNew, transact } from '#platform/db/commit.ts';
import { findShardAt } from '#platform/db/directory.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import type { IdentitySession } from '#platform/db/tables/checkout.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import type { ProvenIdentity } from '#rules/payment-terms.ts';
import { completeIdentitySession, findIdentitySession, insertIdentitySession } from '../sessions/store.ts';
import { type BuyerGrant, sealGrant } from './grant.ts';

const IDENTITY_MS = LIFE.identityMinutes * MINUTE;

const testLink = ({ baseUrl }: Ctx, slug: string, id: string): string => `${baseUrl}/p/${slug}/test-identity/${id}`;

export interface OpenedIdentity {
  session: IdentitySession;
  deepLink: string;
}

/**
 * Starts the buyer's identification at the platform. In the sandbox a test page or a test call answers instead. Throws 404, 409
 * setup_not_ready if the product requires no identity, 503 handoff_not_configured.
 */
export async function openIdentitySession(ctx: Shard, slug: string, storeAnswer: StoreAnswer<OpenedIdentity>): Promise<OpenedIdentity> {
  const { product } = await getActiveListing(ctx.db, slug);
  const { requiresIdentity: provider } = product;
  if (!provider) {
    const detail = 'The product requires no identity. Connect without one.';
    throw new ApiError('setup_not_ready', { detail, meta: { reason: 'identity_not_required' } });
  }
  const { variables, link } = PLATFORMS[provider].identity;
  const missing = product.livemode ? variables.filter((name) => ctx.config[name] === undefined) : [];
  if (missing.length > 0) throw new ApiError('handoff_not_configured', { meta: { provider, missing } });
  const session: IdentitySession = {
    id: newId<IdentitySessionId>(ctx.now, product.merchantId),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    provider,
    providerUserId: null,
    username: null,
    grantSealed: null,
    completedAt: null,
    expiresAt: ctx.now + IDENTITY_MS,
    createdAt: ctx.now,
  };
  const deepLink = product.livemode ? link(ctx.config, session.id) : testLink(ctx, slug, session.id);
  const result = { session, deepLink };
  const change = await withAnswer({ events: [], writes: [insertIdentitySession(ctx.db, session)], result }, storeAnswer(result));
  return commitNew(ctx, change, () => findIdentitySession(ctx.db, session.id));
}

/**
 * Completes an identity session with the person whom the connector reports. Idempotent for the same person. Throws 409 state_conflict for
 * another person, 410 identity_expired, 422 for a session that is unknown or of another platform.
 */
export const completeIdentity = (
  ctx: Shard,
  { identitySessionId, grant, ...proven }: ProvenIdentity & { identitySessionId: IdentitySessionId; grant?: BuyerGrant },
  storeAnswer: StoreAnswer<IdentitySession>,
): Promise<IdentitySession> =>
  transact(ctx, { reload: async () => findIdentitySession(ctx.db, identitySessionId) }, async (session) => {
    if (session?.provider !== proven.provider) throw unknownIdentity();
    if (session.providerUserId === proven.providerUserId) return unchangedWithAnswer(session, storeAnswer);
    if (session.providerUserId !== null) {
      const detail = 'Another person has already completed this identity session. Start a new one.';
      throw new ApiError('state_conflict', { detail, meta: { reason: 'identity_taken' } });
    }
    if (ctx.now >= session.expiresAt) throw new ApiError('identity_expired');
    const grantSealed = grant && PLATFORMS[proven.provider].takesGrants ? await sealGrant(ctx, session.id, grant) : null;
    const after = { ...session, ...proven, grantSealed, completedAt: ctx.now };
    return withAnswer({ events: [], writes: completeIdentitySession(ctx, after), result: after }, storeAnswer(after));
  });

export function unknownIdentity(): ApiError {
  const msg = 'The identity session is unknown. Create one with POST /v1/products/p/{slug}/identity.';
  return new ApiError('validation_error', { problems: [{ loc: ['body', 'identity_session_id'], msg, type: 'unknown_identity' }] });
}

/** Database of an identity session. Throws 422 for an id of no database. */
export function homeOfIdentity(ctx: Ctx, identitySessionId: IdentitySessionId): Shard {
  const home = findShardAt(ctx, partitionOf(identitySessionId));
  if (!home) throw unknownIdentity();
  return home;
}

/**
 * Loads the identity session that a caller names for a product. Returns null if none is named. Throws 422 if the session is unknown or of
 * another product.
 */
export async function loadNamedIdentity(
  ctx: Shard,
  productId: ProductId,
  identitySessionId: IdentitySessionId | undefined,
): Promise<IdentitySession | null> {
  if (identitySessionId === undefined) return null;
  const session = await findIdentitySession(ctx.db, identitySessionId);
  if (session?.productId !== productId) throw unknownIdentity();
  return session;
}

/**
 * Returns the buyer's identity: null if the product requires none, `missing` if the platform has not reported it yet. Throws 410
 * identity_expired, 422 for an unknown session.
 */
export async function requireProvenIdentity(
  ctx: Shard,
  product: Product,
  identitySessionId: IdentitySessionId | undefined,
): Promise<ProvenIdentity | 'missing' | null> {
  const session = await loadNamedIdentity(ctx, product.id, identitySessionId);
  const { requiresIdentity } = product;
  if (!requiresIdentity) return null;
  if (!session) return 'missing';
  if (ctx.now >= session.expiresAt) throw new ApiError('identity_expired');
  const { provider, providerUserId, username } = session;
  return provider === requiresIdentity && providerUserId ? { provider, providerUserId, username } : 'missing';
}
