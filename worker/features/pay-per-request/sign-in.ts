import type { Sale } from '#features/products/product.ts';
import type { Ctx } from '#platform/context.ts';
import { isOnOrigin } from '#protocols/x402/origins.ts';
import { newSignIn, parseSignIn, SIGN_IN_RANDOM_BYTES, type SignInProblem, verifySignIn } from '#protocols/x402/sign-in.ts';
import type { Requested } from './resource.ts';

/** Returns the merchant's origins, which alone name a domain. Null if one purchase gives one use: then a wallet has nothing to come back for. */
function originsOf({ product, setting }: Sale): readonly [string, ...string[]] | null {
  const [first, ...others] = setting?.origins ?? [];
  const givesMore = product.usageUnits !== 1 || product.accessPeriodDays !== null;
  return first !== undefined && givesMore ? [first, ...others] : null;
}

const termsOf = ({ config }: Ctx, { product: { livemode, merchantId, id } }: Sale) => ({
  livemode,
  merchantId,
  productId: id,
  chainId: config.network.caip2,
});

/**
 * Offers a sign-in with the challenge for a resource on the merchant's origins. Null if the product offers none, or for an MCP tool. Writes
 * nothing.
 */
export function makeSignIn(ctx: Ctx, sale: Sale, resource: Requested | undefined) {
  const origins = originsOf(sale);
  if (!origins || resource?.toolName !== undefined) return null;
  const uri = resource ? resource.url : `${origins[0]}/`;
  if (!isOnOrigin(uri, origins)) return null;
  const random = crypto.getRandomValues(new Uint8Array(SIGN_IN_RANDOM_BYTES));
  // A fragment is the caller's own mark of the request.
  const terms = { ...termsOf(ctx, sale), uri: uri.replace(/#.*/s, '') };
  return newSignIn(terms, { keys: ctx.config.CHALLENGE_KEYS!, random, now: ctx.wallNow });
}

/** Valid sign-in, or the problem of a refused one. `signer`: the wallet that signed, null if the signature is not of the wallet that is named. */
type SignInReading =
  | { signer: string; nonce: string; problem: null }
  | { signer: string; nonce: null; problem: SignInProblem }
  | { signer: null; nonce: null; problem: SignInProblem };

/** Reads the value of a SIGN-IN-WITH-X header for one sale. Whether it was used before is known to the wallet's entitlement. */
export function readSignIn(ctx: Ctx, sale: Sale, header: string): SignInReading {
  const signIn = parseSignIn(header);
  if (!signIn) return { signer: null, nonce: null, problem: 'invalid_siwx_header' };
  const keys = ctx.config.CHALLENGE_KEYS ?? '';
  const expected = { ...termsOf(ctx, sale), origins: keys === '' ? null : originsOf(sale) };
  const { problem, isSigned } = verifySignIn(signIn, expected, { keys, now: ctx.wallNow });
  const { address: signer, nonce } = signIn;
  if (!problem) return { signer, nonce, problem };
  return isSigned ? { signer, nonce: null, problem } : { signer: null, nonce: null, problem };
}
