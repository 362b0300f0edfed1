import type { TextKey } from '../../locales/en.ts';
import { formatPeriod, sayIn } from '../../parts/text.ts';
import type { PageFacts, Problem } from '../state.ts';
import type { Failure } from './api.ts';
import type { Store } from './page-state.ts';
import type { WalletError } from './wallets.ts';
import type { Watch } from './watch-payment.ts';

/** One clear sentence for whatever went wrong. */

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

/** What a node says of a transaction it would not take, as far as it tells the buyer something. */
export function refusalOf(detail: string): TextKey {
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

export class Problems {
  readonly #facts: PageFacts;
  readonly #store: Store;
  readonly #watch: Watch;

  constructor(facts: PageFacts, store: Store, watch: Watch) {
    this.#facts = facts;
    this.#store = store;
    this.#watch = watch;
  }

  /** The service said no: why, in one sentence, and back to the choice. Where it is over, the payment itself says so. */
  refuse(failure: Failure): void {
    const isOver = ['session_expired', 'payment_failed', 'state_conflict', 'payment_transaction_conflict'].includes(failure.code);
    const { session } = this.#store.state;
    this.#store.set({ step: 'choosing', isBusy: false, problem: isOver && session ? null : this.of(failure) });
    if (session) this.#watch.now();
  }

  of({ code, meta, detail, retryAfterMs }: Failure): Problem {
    const values = { ...this.#around(), code, provider: meta.provider ?? '' };
    if (code === 'payment_mismatch') return { key: meta.reason === 'transaction_rejected' ? refusalOf(detail) : 'pMismatch', values };
    if (code === 'session_expired' && meta.reason === 'quote_expired') {
      const minutes = Math.max(1, Math.ceil((retryAfterMs ?? 0) / 60_000));
      return { key: 'pQuoteOver', values: { period: formatPeriod(this.#facts.locale, minutes, 'minute') } };
    }
    return { key: BY_CODE[code] ?? 'pUnknown', values };
  }

  ofWallet({ refusal, message }: WalletError, wallet: string): Problem {
    // A wallet that simulates first says what the node would have said.
    const told = refusal === 'failed' ? refusalOf(message) : 'pRefused';
    return { key: told === 'pRefused' ? BY_REFUSAL[refusal] : told, values: { ...this.#around(), wallet } };
  }

  #around() {
    const { walletName, asset } = this.#store.state;
    return { wallet: walletName ?? '', asset, network: sayIn(this.#facts.text)(this.#facts.network) };
  }
}
