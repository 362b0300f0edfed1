import { ApiError, raise } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import { isConstraint } from '#platform/db/commit.ts';
import { homeForNew } from '#platform/db/directory.ts';
import { findNamed, NameTaken } from '#platform/db/names/names.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Origin } from '#rules/access/sessions.ts';
import type { SignIn } from '#rules/admission.ts';
import { startSession } from '../auth/sessions.ts';
import { requireActivePerson, storeAccount, walletKeysOf, walletName } from '../auth/sign-in.ts';
import { noteRefusedSignIn } from '../entries/sign-ins.ts';
import { newAccount } from '../new-account.ts';
import { findAccountByKeys } from '../store.ts';
import { proveWallet, type WalletLogin } from './proof.ts';

/**
 * Signs a wallet in, creates its account the first time, and begins a session by the text that was signed. Throws 401 invalid_credentials,
 * 403 for a suspended or deleted account.
 */
export async function logInWithWallet(ctx: Ctx, login: WalletLogin, origin: Origin): Promise<{ account: Account; signIn: SignIn }> {
  const { walletAddress } = login;
  const proof = await proveWallet(ctx, 'merchant', login);
  if (!proof) {
    noteRefusedSignIn(ctx, () => findByWallet(ctx, walletAddress), { method: 'siws', reason: 'invalid_credentials' });
    const detail = 'The signature does not match the sign-in, or its nonce was used or has expired. Request a new nonce.';
    throw new ApiError('invalid_credentials', { detail });
  }
  try {
    const account = requireActivePerson(await openWalletAccount(ctx, walletAddress));
    return { account, signIn: await startSession(ctx, account, proof.method, origin) };
  } catch (error) {
    // The wallet has proved itself, so the same signature may be sent again after the outage.
    if (error instanceof ApiError && error.code === 'temporarily_unavailable') proof.giveBack();
    throw error;
  }
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
