import { verifyEd25519 } from '#core/crypto.ts';
import { base58Bytes, randomBase62, utf8 } from '#core/encoding.ts';
import { ApiError, formatErrorChain, raise } from '#core/errors.ts';
import { newId, type SignInId } from '#core/ids.ts';
import { iso, SECOND } from '#core/time.ts';
import { requireWallet } from '#platform/chain/payees.ts';
import type { Ctx } from '#platform/context.ts';
import { commit, isConstraint } from '#platform/db/commit.ts';
import { globalOf, homeForNew } from '#platform/db/directory.ts';
import { findNamed, NameTaken } from '#platform/db/names/names.ts';
import type { Account, LoginNonce } from '#platform/db/tables/accounts.ts';
import type { Origin } from '#rules/access/sessions.ts';
import type { SignIn } from '#rules/admission.ts';
import { noteRefusedSignIn } from '../entries/sign-ins.ts';
import { newAccount } from '../new-account.ts';
import { findAccountByKeys, insertLoginNonce, returnLoginNonce, takeLoginNonce } from '../store.ts';
import { startSession } from './sessions.ts';
import { requireActivePerson, storeAccount, walletKeysOf, walletName } from './sign-in.ts';

/** Long enough to find the wallet's window, short enough to limit the use of a stolen signature. */
const NONCE_SECONDS = 300;
const STATEMENT = 'Sign in to your merchant account. This costs nothing and moves no money.';

/** Builds the text that a wallet shows and signs, in the exact order and spacing of Sign-In With Solana. */
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

/** Issues a sign-in text for a wallet, valid once and for five minutes. Throws 422 invalid_wallet_address. */
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
 * Signs a wallet in, creates its account the first time, and begins a session by the text that was signed. Throws 401 invalid_credentials,
 * 403 for a suspended or deleted account.
 */
export async function logInWithWallet(
  ctx: Ctx,
  { walletAddress, signature, nonce }: WalletLogin,
  origin: Origin,
): Promise<{ account: Account; signIn: SignIn }> {
  requireWallet(walletAddress);
  // Claims the nonce before the signature is verified, so that a signature is tried once, right or wrong.
  const signInId = newId<SignInId>(ctx.wallNow, null);
  const issued = await takeNonce(ctx, { nonce, walletAddress, signInId });
  const method = issued && issued.expiresAt > ctx.wallNow ? findMethod(issued, signature) : null;
  if (!method) {
    noteRefusedSignIn(ctx, () => findByWallet(ctx, walletAddress), { method: 'siws', reason: 'invalid_credentials' });
    const detail = 'The signature does not match the sign-in, or its nonce was used or has expired. Request a new nonce.';
    throw new ApiError('invalid_credentials', { detail });
  }
  try {
    const account = requireActivePerson(await openWalletAccount(ctx, walletAddress));
    return { account, signIn: await startSession(ctx, account, method, origin) };
  } catch (error) {
    // The wallet has proved itself, so the same signature may be sent again after the outage.
    if (error instanceof ApiError && error.code === 'temporarily_unavailable')
      ctx.defer(returnLoginNonce(globalOf(ctx).db, nonce, signInId));
    throw error;
  }
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

type WalletMethod = 'siws' | 'nonce';

/** Detects which text was signed: the full one, in which a wallet shows the domain, or the bare nonce, which any site can have signed. */
function findMethod({ walletAddress, message, nonce }: LoginNonce, signature: string): WalletMethod | null {
  const bytes = base58Bytes(signature, 64);
  const publicKey = base58Bytes(walletAddress, 32);
  if (bytes === null || publicKey === null) return null;
  if (verifyEd25519(bytes, utf8(message), publicKey)) return 'siws';
  return verifyEd25519(bytes, utf8(nonce), publicKey) ? 'nonce' : null;
}

const findByWallet = (ctx: Ctx, walletAddress: string) =>
  findNamed(ctx, walletName(ctx, walletAddress), ({ db }) => findAccountByKeys(db, walletKeysOf(ctx, walletAddress)));

/** Finds or creates the wallet's account. Concurrent first sign-ins end in the same account. */
async function openWalletAccount(ctx: Ctx, walletAddress: string): Promise<Account> {
  const walletKeys = walletKeysOf(ctx, walletAddress);
  const known = await findByWallet(ctx, walletAddress);
  if (known) return known;
  const displayName = `Wallet ${walletAddress.slice(0, 4)}…${walletAddress.slice(-4)}`;
  try {
    const home = homeForNew(ctx, walletAddress);
    return await storeAccount(home, newAccount(home, displayName, { walletAddress, walletKey: walletKeys.keys[0] }));
  } catch (error) {
    if (!isConstraint(error) && !(error instanceof NameTaken)) throw error;
    return (await findByWallet(ctx, walletAddress)) ?? raise('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
}
