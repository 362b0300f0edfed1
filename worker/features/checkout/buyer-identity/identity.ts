import { equalBytes, sha256 } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { type IdentitySessionId, newId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { MINUTE } from '#core/time.ts';
import { getActiveListing } from '#features/products/product.ts';
import type { Config, Ctx, Shard } from '#platform/context.ts';
import { commitNew, transact } from '#platform/db/commit.ts';
import { type Keep, unchangedKept, withAnswer } from '#platform/db/once.ts';
import type { IdentitySession } from '#platform/db/tables/checkout.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider, type ProvenIdentity } from '#rules/payment-terms.ts';
import { completeIdentitySession, findIdentitySession, insertIdentitySession } from './store.ts';

const IDENTITY_MS = LIFE.identityMinutes * MINUTE;

export const isIdentityProvider = (name: string): name is IdentityProvider => (IDENTITY_PROVIDERS as readonly string[]).includes(name);

/** What each platform needs of the deployment: the link a buyer follows, and the secrets its connector shows us. */
const PLATFORMS: Record<
  IdentityProvider,
  { variables: (keyof Config)[]; link: (config: Config, id: string) => string; secrets: (config: Config) => string | undefined }
> = {
  telegram: {
    variables: ['TELEGRAM_BOT_USERNAME', 'TELEGRAM_CONNECTOR_SECRETS'],
    link: ({ TELEGRAM_BOT_USERNAME }, id) => `https://t.me/${TELEGRAM_BOT_USERNAME}?start=${id}`,
    secrets: ({ TELEGRAM_CONNECTOR_SECRETS }) => TELEGRAM_CONNECTOR_SECRETS,
  },
  discord: {
    variables: ['DISCORD_CLIENT_ID', 'DISCORD_REDIRECT_URI', 'DISCORD_CONNECTOR_SECRETS'],
    link: ({ DISCORD_CLIENT_ID, DISCORD_REDIRECT_URI }, id) => {
      const query = {
        response_type: 'code',
        client_id: DISCORD_CLIENT_ID!,
        scope: 'identify',
        redirect_uri: DISCORD_REDIRECT_URI!,
        state: id,
      };
      return `https://discord.com/oauth2/authorize?${new URLSearchParams(query)}`;
    },
    secrets: ({ DISCORD_CONNECTOR_SECRETS }) => DISCORD_CONNECTOR_SECRETS,
  },
};

export interface OpenedIdentity {
  session: IdentitySession;
  deepLink: string;
}

/**
 * A buyer's way to the platform and back; in the sandbox a test call can come back in its place. 404, 409 setup_not_ready where the
 * product requires no identity, 503 handoff_not_configured.
 */
export async function openIdentitySession(ctx: Shard, slug: string, keep: Keep<OpenedIdentity>): Promise<OpenedIdentity> {
  const { product } = await getActiveListing(ctx.db, slug);
  const { requiresIdentity: provider } = product;
  if (!provider) {
    const detail = 'This product is sold to anybody: connect without an identity.';
    throw new ApiError('setup_not_ready', { detail, meta: { reason: 'identity_not_required' } });
  }
  const { variables, link } = PLATFORMS[provider];
  const missing = variables.filter((name) => ctx.config[name] === undefined);
  if (missing.length > 0) throw new ApiError('handoff_not_configured', { meta: { provider, missing } });
  const session: IdentitySession = {
    id: newId<IdentitySessionId>(ctx.now),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    provider,
    providerUserId: null,
    username: null,
    completedAt: null,
    expiresAt: ctx.now + IDENTITY_MS,
    createdAt: ctx.now,
  };
  const result = { session, deepLink: link(ctx.config, session.id) };
  const change = await withAnswer({ events: [], writes: [insertIdentitySession(ctx.db, session)], result }, keep(result));
  return commitNew(ctx, change, () => findIdentitySession(ctx.db, session.id));
}

/**
 * Is this the connector of that platform? 401 connector_secret_invalid for none or a wrong secret, 403
 * handoff_secret_mismatch for the secret of another platform, 503 handoff_not_configured where there is nothing to compare.
 */
export function requireConnector({ config }: Ctx, provider: IdentityProvider, shown: string | undefined): void {
  if (!shown) throw new ApiError('connector_secret_invalid');
  const isSecretOf = (platform: IdentityProvider): boolean =>
    (PLATFORMS[platform].secrets(config)?.split(',') ?? [])
      // Hashed first: equal lengths, so that the comparison tells nothing about the secret.
      .map((secret) => equalBytes(sha256(utf8(secret)), sha256(utf8(shown))))
      .includes(true);
  if (isSecretOf(provider)) return;
  if (IDENTITY_PROVIDERS.some(isSecretOf)) throw new ApiError('handoff_secret_mismatch', { meta: { provider } });
  if (!PLATFORMS[provider].secrets(config)) throw new ApiError('handoff_not_configured', { meta: { provider } });
  throw new ApiError('connector_secret_invalid');
}

/**
 * The connector says who came. The same person again is the same answer. 404 for a session of another platform, 409
 * state_conflict for another person, 410 identity_expired.
 */
export const completeIdentity = (
  ctx: Shard,
  { identitySessionId, ...proven }: ProvenIdentity & { identitySessionId: IdentitySessionId },
  keep: Keep<IdentitySession>,
): Promise<IdentitySession> =>
  transact(ctx, { reload: async () => findIdentitySession(ctx.db, identitySessionId) }, async (session) => {
    if (session?.provider !== proven.provider) throw new ApiError('not_found');
    if (session.providerUserId === proven.providerUserId) return unchangedKept(session, keep);
    if (session.providerUserId !== null) {
      const detail = 'Somebody else already showed who they are in this session.';
      throw new ApiError('state_conflict', { detail, meta: { reason: 'identity_taken' } });
    }
    if (ctx.now >= session.expiresAt) throw new ApiError('identity_expired');
    const after = { ...session, ...proven, completedAt: ctx.now };
    return withAnswer({ events: [], writes: completeIdentitySession(ctx, after), result: after }, keep(after));
  });

/**
 * Who the buyer of this product is: null where the product requires none, `missing` where the platform has not told us yet. 404
 * for a session of another product, 410 identity_expired.
 */
export async function requireProvenIdentity(
  ctx: Shard,
  product: Product,
  identitySessionId: IdentitySessionId | undefined,
): Promise<ProvenIdentity | 'missing' | null> {
  const { requiresIdentity } = product;
  if (!requiresIdentity) return null;
  if (!identitySessionId) return 'missing';
  const session = await findIdentitySession(ctx.db, identitySessionId);
  if (session?.productId !== product.id) throw new ApiError('not_found', { meta: { field: 'identity_session_id' } });
  if (ctx.now >= session.expiresAt) throw new ApiError('identity_expired');
  const { provider, providerUserId, username } = session;
  return provider === requiresIdentity && providerUserId ? { provider, providerUserId, username } : 'missing';
}
