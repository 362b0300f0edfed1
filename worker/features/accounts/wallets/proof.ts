import { verifyEd25519 } from '#core/crypto.ts';
import { base58Bytes, randomBase62, utf8 } from '#core/encoding.ts';
import { formatErrorChain } from '#core/errors.ts';
import { newId, type SignInId } from '#core/ids.ts';
import { iso, SECOND } from '#core/time.ts';
import { requireWallet } from '#platform/chain/payees.ts';
import type { Ctx } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { LoginNonce } from '#platform/db/tables/accounts.ts';
import { insertLoginNonce, returnLoginNonce, takeLoginNonce } from '../store.ts';

/** Long enough to find the wallet's window, short enough to limit the use of a stolen signature. */
const NONCE_SECONDS = 300;

/** Uses of a signature. The nonce names its use, so that none serves for another. */
const PURPOSES = {
  merchant: { prefix: 'SvcSignIn', statement: 'Sign in to your merchant account. This costs nothing and moves no money.' },
  buyer: { prefix: 'SvcBuyer', statement: 'See what this wallet bought. This costs nothing and moves no money.' },
} as const;
export type WalletPurpose = keyof typeof PURPOSES;

/** Builds the text that a wallet shows and signs, in the exact order and spacing of Sign-In With Solana. */
function signInText(ctx: Ctx, purpose: WalletPurpose, { nonce, walletAddress, expiresAt }: Omit<LoginNonce, 'message'>): string {
  return [
    `${new URL(ctx.baseUrl).host} wants you to sign in with your Solana account:`,
    walletAddress,
    '',
    PURPOSES[purpose].statement,
    '',
    `URI: ${ctx.baseUrl}`,
    'Version: 1',
    `Chain ID: solana:${ctx.config.NETWORK}`,
    `Nonce: ${nonce}`,
    `Issued At: ${iso(ctx.wallNow)}`,
    `Expiration Time: ${iso(expiresAt)}`,
  ].join('\n');
}

/** Issues a sign-in text for a wallet, valid once and for five minutes. Throws 422 invalid_wallet_address. */
export async function issueLoginNonce(ctx: Ctx, purpose: WalletPurpose, walletAddress: string): Promise<LoginNonce> {
  requireWallet(walletAddress);
  const nonce = `${PURPOSES[purpose].prefix}${randomBase62(24)}`;
  const terms = { nonce, walletAddress, expiresAt: ctx.wallNow + NONCE_SECONDS * SECOND };
  const loginNonce = { ...terms, message: signInText(ctx, purpose, terms) };
  const home = globalOf(ctx);
  return commit(home, { events: [], writes: insertLoginNonce(home, loginNonce), result: loginNonce });
}

export interface WalletLogin {
  walletAddress: string;
  /** base58 Ed25519 signature over the issued text, or over the bare nonce. */
  signature: string;
  nonce: string;
}

/** `siws`: the text in which a wallet shows the domain. `nonce`: the bare nonce, which any site can have signed. */
export type WalletMethod = 'siws' | 'nonce';

/**
 * Verifies a signature over a nonce of this purpose, and uses the nonce up: right or wrong, a signature is tried once. `giveBack` returns
 * the nonce for a sign-in that had no effect. Null for a wrong signature, and for a used, expired or foreign nonce.
 */
export async function proveWallet(
  ctx: Ctx,
  purpose: WalletPurpose,
  { walletAddress, signature, nonce }: WalletLogin,
): Promise<{ method: WalletMethod; giveBack(): void } | null> {
  requireWallet(walletAddress);
  if (!nonce.startsWith(PURPOSES[purpose].prefix)) return null;
  const signInId = newId<SignInId>(ctx.wallNow, null);
  const issued = await takeNonce(ctx, { nonce, walletAddress, signInId });
  const method = issued && issued.expiresAt > ctx.wallNow ? findMethod(issued, signature) : null;
  return method && { method, giveBack: () => ctx.defer(returnLoginNonce(globalOf(ctx).db, nonce, signInId)) };
}

/** Claims the nonce, with one retry if the database's answer was lost, so that the wallet need not sign again. */
async function takeNonce(
  ctx: Ctx,
  { nonce, walletAddress, signInId }: { nonce: string; walletAddress: string; signInId: SignInId },
): Promise<LoginNonce | null> {
  const take = () => takeLoginNonce(globalOf(ctx).db, nonce, walletAddress, signInId);
  return take().catch((error: unknown) => {
    ctx.note(`nonce: ${formatErrorChain(error)}`);
    return take();
  });
}

/** Detects which text was signed. */
function findMethod({ walletAddress, message, nonce }: LoginNonce, signature: string): WalletMethod | null {
  const bytes = base58Bytes(signature, 64);
  const publicKey = base58Bytes(walletAddress, 32);
  if (bytes === null || publicKey === null) return null;
  if (verifyEd25519(bytes, utf8(message), publicKey)) return 'siws';
  return verifyEd25519(bytes, utf8(nonce), publicKey) ? 'nonce' : null;
}
