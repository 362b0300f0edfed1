import { verifyEd25519 } from '#core/crypto.ts';
import { base58Bytes, randomBase62, utf8 } from '#core/encoding.ts';
import { ApiError, raise, storyOf } from '#core/errors.ts';
import { newId, type SignInId } from '#core/ids.ts';
import { iso, SECOND } from '#core/time.ts';
import { requireWallet } from '#platform/chain/payees.ts';
import type { Ctx } from '#platform/context.ts';
import { commit, isConstraint } from '#platform/db/commit.ts';
import { findAnywhere, globalOf, newestOf } from '#platform/db/directory.ts';
import type { Account, LoginNonce } from '#platform/db/tables/accounts.ts';
import { findAccountByKeys, insertLoginNonce, takeLoginNonce } from '../store.ts';
import { newAccount, requireActive, storeAccount, walletKeysOf } from './sign-in.ts';

/** Long enough to find the wallet's window, short enough that a stolen signature is soon worthless. */
const NONCE_SECONDS = 300;
const STATEMENT = 'Sign in to your merchant account. This costs nothing and moves no money.';

/** The text a wallet shows and signs, in the exact order and spacing of Sign-In With Solana. */
function signInText(ctx: Ctx, { nonce, walletAddress, expiresAt }: Omit<LoginNonce, 'message'>): string {
  return [
    `${new URL(ctx.baseUrl).host} wants you to sign in with your Solana account:`,
    walletAddress,
    '',
    STATEMENT,
    '',
    `URI: ${ctx.baseUrl}`,
    'Version: 1',
    `Chain ID: solana:${ctx.config.NETWORK}`,
    `Nonce: ${nonce}`,
    `Issued At: ${iso(ctx.wallNow)}`,
    `Expiration Time: ${iso(expiresAt)}`,
  ].join('\n');
}

/** Issues a text for this wallet to sign, valid once and for five minutes. 422 invalid_wallet_address. */
export async function issueLoginNonce(ctx: Ctx, walletAddress: string): Promise<LoginNonce> {
  requireWallet(walletAddress);
  const terms = { nonce: `SvcSignIn${randomBase62(24)}`, walletAddress, expiresAt: ctx.wallNow + NONCE_SECONDS * SECOND };
  const loginNonce = { ...terms, message: signInText(ctx, terms) };
  const home = globalOf(ctx);
  return commit(home, { events: [], writes: insertLoginNonce(home, loginNonce), result: loginNonce });
}

interface WalletLogin {
  walletAddress: string;
  /** base58 Ed25519 signature over the issued text, or over the bare nonce. */
  signature: string;
  nonce: string;
}

/**
 * Signs a wallet in, with a new account the first time, and says which of the two texts it signed. 401 invalid_credentials, 403
 * suspended or deleted.
 */
export async function logInWithWallet(
  ctx: Ctx,
  { walletAddress, signature, nonce }: WalletLogin,
): Promise<{ account: Account; method: WalletMethod }> {
  requireWallet(walletAddress);
  // Taken before anything is verified: a signature is tried once, right or wrong.
  const issued = await takeNonce(ctx, nonce, walletAddress);
  const method = issued && issued.expiresAt > ctx.wallNow ? findMethod(issued, signature) : null;
  if (!method) {
    const detail = 'The signature does not match the sign-in, or its nonce was used or has expired. Request a new nonce.';
    throw new ApiError('invalid_credentials', { detail });
  }
  return { account: requireActive(await openWalletAccount(ctx, walletAddress)), method };
}

/** Takes the nonce, with one retry where the database's answer was lost, so that the wallet need not sign another text. */
async function takeNonce(ctx: Ctx, nonce: string, walletAddress: string): Promise<LoginNonce | null> {
  const signInId = newId<SignInId>(ctx.wallNow);
  const take = () => takeLoginNonce(globalOf(ctx).db, nonce, walletAddress, signInId);
  return take().catch((error: unknown) => {
    ctx.note(`nonce: ${storyOf(error)}`);
    return take();
  });
}

type WalletMethod = 'siws' | 'nonce';

/** Which text was signed: the whole one, in which a wallet shows the domain, or the bare nonce, which any site can have signed. */
function findMethod({ walletAddress, message, nonce }: LoginNonce, signature: string): WalletMethod | null {
  const bytes = base58Bytes(signature, 64);
  const publicKey = base58Bytes(walletAddress, 32);
  if (bytes === null || publicKey === null) return null;
  if (verifyEd25519(bytes, utf8(message), publicKey)) return 'siws';
  return verifyEd25519(bytes, utf8(nonce), publicKey) ? 'nonce' : null;
}

/** The wallet's account; two first sign-ins at once end in the same one. */
async function openWalletAccount(ctx: Ctx, walletAddress: string): Promise<Account> {
  const walletKeys = walletKeysOf(ctx, walletAddress);
  const find = () => findAnywhere(ctx, ({ db }) => findAccountByKeys(db, walletKeys));
  const known = await find();
  if (known) return known;
  const displayName = `Wallet ${walletAddress.slice(0, 4)}…${walletAddress.slice(-4)}`;
  try {
    return await storeAccount(newestOf(ctx), newAccount(ctx, displayName, { walletAddress, walletKey: walletKeys.keys[0] }));
  } catch (error) {
    if (!isConstraint(error)) throw error;
    return (await find()) ?? raise('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
}
