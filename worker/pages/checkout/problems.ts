import type { TextKey } from '../locales/dictionaries.ts';
import type { Failure } from '../parts/answer.ts';
import { formatPeriod, sayIn } from '../parts/text.ts';
import type { PageFacts, Problem } from './facts.ts';

const BY_CODE: Record<string, TextKey> = {
  offline: 'pOffline',
  rate_limited: 'pBusy',
  plan_limit_reached: 'pBusy',
  rpc_unavailable: 'pNode',
  temporarily_unavailable: 'pNode',
  price_unavailable: 'pPrice',
  setup_not_ready: 'pSetup',
  fee_wallet_missing: 'pSetup',
  handoff_not_configured: 'pSetup',
  not_found: 'pGone',
  session_expired: 'sessionOver',
  handoff_expired: 'pHandoffUsed',
  handoff_secret_mismatch: 'pHandoffBad',
  invalid_wallet_address: 'pSelf',
  identity_expired: 'identityNotYet',
  identity_verification_required: 'pIdentityNow',
};

/** An expired link: nothing can be begun, so nothing is offered. */
export const DEAD_ENDS: TextKey[] = ['pHandoffBad', 'pHandoffUsed', 'sessionOver'];

function refusalOf(detail: string): TextKey {
  if (/no record of a prior credit|insufficient funds for (?:fee|rent)|insufficient lamports/i.test(detail)) return 'pSol';
  if (/blockhash not found|block height exceeded/i.test(detail)) return 'pTooSlow';
  if (/custom program error: 0x1\b|insufficient funds/i.test(detail)) return 'pFunds';
  if (/invalid account data|uninitialized account|could not find account|account ?not ?found|invalid account owner/i.test(detail))
    return 'pNoToken';
  return 'pRefused';
}

const BY_REFUSAL = {
  rejected: 'pRejected',
  network: 'pNetwork',
  no_account: 'pNoAccount',
  failed: 'pWallet',
  unclear: 'pUnclear',
} as const;

const networkName = ({ text, network }: PageFacts): string => sayIn(text)(network);

/** Maps a refusal of the service. `asset`: the asset the buyer was about to pay in. */
export function problemOfFailure(facts: PageFacts, { code, meta, detail, retryAfterMs }: Failure, asset: string): Problem {
  const values = { asset, network: networkName(facts), code, provider: meta.provider ?? '' };
  if (code === 'payment_mismatch') return { key: meta.reason === 'transaction_rejected' ? refusalOf(detail) : 'pMismatch', values };
  if (code === 'session_expired' && meta.reason === 'quote_expired') {
    const minutes = Math.max(1, Math.ceil((retryAfterMs ?? 0) / 60_000));
    return { key: 'pQuoteOver', values: { period: formatPeriod(facts.locale, minutes, 'minute') } };
  }
  if (meta.reason === 'in_flight') return { key: 'pElsewhere' };
  return { key: BY_CODE[code] ?? 'pUnknown', values };
}

/** Maps a wallet's refusal. A wallet that simulates first reports the node's error. */
export function problemOfWallet(
  facts: PageFacts,
  { refusal, message, walletName }: { refusal: keyof typeof BY_REFUSAL; message: string; walletName: string },
  asset: string,
): Problem {
  const key = refusal === 'failed' ? refusalOf(message) : 'pRefused';
  return {
    key: key === 'pRefused' ? BY_REFUSAL[refusal] : key,
    values: { wallet: walletName, asset, network: networkName(facts) },
  };
}
