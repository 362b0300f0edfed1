import type { TextKey } from '../locales/en.ts';
import type { Problem } from '../view/model.ts';
import type { Failure } from './api.ts';
import type { WalletError } from './wallets.ts';

/** One clear sentence for whatever went wrong. */
interface Around {
  wallet: string;
  network: string;
  asset: string;
}

const BY_CODE: Record<string, TextKey> = {
  offline: 'pOffline',
  rate_limited: 'pBusy',
  rpc_unavailable: 'pNode',
  temporarily_unavailable: 'pNode',
  price_unavailable: 'pPrice',
  setup_not_ready: 'pSetup',
  fee_wallet_missing: 'pSetup',
  handoff_not_configured: 'pSetup',
  not_found: 'pGone',
  handoff_expired: 'pHandoffUsed',
  handoff_secret_mismatch: 'pHandoffBad',
  invalid_wallet_address: 'pSelf',
  identity_expired: 'identityNotYet',
  identity_verification_required: 'identityNotYet',
};

/** What a node says of a transaction it would not take, as far as it tells the buyer something. */
export function refusalOf(detail: string): TextKey {
  if (/no record of a prior credit|insufficient funds for (?:fee|rent)|insufficient lamports/i.test(detail)) return 'pSol';
  if (/blockhash not found|block height exceeded/i.test(detail)) return 'pTooSlow';
  if (/custom program error: 0x1\b|insufficient funds/i.test(detail)) return 'pFunds';
  if (/invalid account data|uninitialized account|could not find account|account ?not ?found|invalid account owner/i.test(detail))
    return 'pNoToken';
  return 'pRefused';
}

export function problemOf(failure: Failure, around: Around): Problem {
  const values = { ...around, code: failure.code, provider: '' };
  if (failure.code === 'payment_mismatch') {
    return { key: failure.meta.reason === 'transaction_rejected' ? refusalOf(failure.detail) : 'pMismatch', values };
  }
  return { key: BY_CODE[failure.code] ?? 'pUnknown', values };
}

const BY_REFUSAL = { rejected: 'pRejected', network: 'pNetwork', no_account: 'pNoAccount', failed: 'pWallet' } as const;

export function walletProblem({ refusal, message }: WalletError, around: Around): Problem {
  // A wallet that simulates first says what the node would have said.
  const told = refusal === 'failed' ? refusalOf(message) : 'pRefused';
  return { key: told === 'pRefused' ? BY_REFUSAL[refusal] : told, values: { ...around } };
}
