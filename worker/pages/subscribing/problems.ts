import type { Failure } from '../parts/answer.ts';
import type { WalletRefusal } from '../parts/wallet-choice.ts';
import type { AnyKey, Problem, SubscribingFacts } from './facts.ts';

const OF_REFUSAL: Record<WalletRefusal, AnyKey> = {
  rejected: 'sDeclined',
  network: 'pNetwork',
  no_account: 'pNoAccount',
  failed: 'pWallet',
  unclear: 'pWallet',
};

export const problemOfWallet = ({ network, text }: SubscribingFacts, refusal: WalletRefusal, wallet: string): Problem => ({
  key: OF_REFUSAL[refusal],
  values: { wallet, network: text[network] },
});

/** By the code, and by the reason where that says more. */
const OF_CODE: Record<string, AnyKey> = {
  refused: 'sRefused',
  transaction_rejected: 'sRefused',
  subscription_ending: 'sEnding',
  ending: 'sEnding',
  other_wallet: 'sOtherWallet',
  plan_missing: 'pSetup',
  unavailable: 'pNode',
  offline: 'pOffline',
  rate_limited: 'pBusy',
  plan_limit_reached: 'pBusy',
  rpc_unavailable: 'pNode',
  setup_not_ready: 'pSetup',
  invalid_wallet_address: 'pSelf',
  session_expired: 'sFailedExpired',
  handoff_expired: 'pHandoffUsed',
  identity_verification_required: 'pIdentityNow',
  payment_mismatch: 'sNotLanded',
  subscription_cancelled: 'mAlready',
  subscription_requires_reapproval: 'mNothing',
};

export function problemOfFailure(facts: SubscribingFacts, { code, meta }: Pick<Failure, 'code' | 'meta'>): Problem {
  if (code === 'not_found') return facts.page === 'manage' ? { key: 'mNotYours', values: { wallet: facts.wallet } } : { key: 'pGone' };
  const key = OF_CODE[meta.reason ?? ''] ?? OF_CODE[code];
  return key ? { key } : { key: 'pUnknown', values: { code } };
}
