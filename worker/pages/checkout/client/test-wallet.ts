/**
 * Wallet of a test product's page, on any deployment. It asks what the buyer does, and the service signs and broadcasts on the simulated
 * chain. It sends by itself, so that it can pay too little.
 * @module
 */

import { loadOrStore, readFacts, registerOwnWallet } from '../../browser/own-wallet/own-wallet.ts';
import { newRejection, openWalletDialog, type WalletDialog } from '../../browser/own-wallet/wallet-dialog.ts';
import { OWN_WALLET_NAMES } from '../../browser/wallets/wallets.ts';
import type { Dictionary } from '../../locales/dictionaries.ts';
import { fromBase58, toBase64 } from '../../parts/bytes.ts';
import { type Amount, formatMoney, formatPeriod, type Say, sayIn } from '../../parts/text.ts';
import type { WalletTerms } from '../../parts/wallet-choice.ts';
import { payAtPage } from './api.ts';

const ICON =
  'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyOCAyOCI+PHJlY3Qgd2lkdGg9IjI4IiBoZWlnaHQ9IjI4IiByeD0iOCIgZmlsbD0iIzdhNGEwMCIvPjx0ZXh0IHg9IjE0IiB5PSIyMCIgZm9udC1mYW1pbHk9InNhbnMtc2VyaWYiIGZvbnQtc2l6ZT0iMTYiIGZvbnQtd2VpZ2h0PSI3MDAiIGZpbGw9IiNmZmYiIHRleHQtYW5jaG9yPSJtaWRkbGUiPlQ8L3RleHQ+PC9zdmc+';

const readWalletId = (): string =>
  loadOrStore('svc:test-wallet', () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  });

/** `leave`: the wallet never answers. */
type Deed = 'paid' | 'underpaid' | 'decline' | 'leave';

interface TestFacts extends WalletTerms {
  slug: string;
  text: Dictionary;
  /** `manage`: nothing is paid there, so underpaying is not offered. */
  page?: 'subscribe' | 'manage';
  price?: Amount;
  periodDays?: number;
  locale: string;
}

const dialogIn = (say: Say, { page, price, periodDays, locale }: TestFacts): WalletDialog<Deed> => ({
  title: OWN_WALLET_NAMES.test,
  ask: say('twAsk'),
  rows:
    page === 'subscribe' && price
      ? [[say('amount'), `${formatMoney(locale, price)} / ${formatPeriod(locale, periodDays ?? 0, 'day')}`]]
      : [],
  buttons: [
    ['paid', say('twApprove')],
    ...(page === 'manage' ? [] : ([['underpaid', say('twTooLittle')]] as const)),
    ['decline', say('twDecline')],
    ['leave', say('twLeave')],
  ],
  onEscape: 'decline',
});

/**
 * Returns the signature of the sent transaction. Throws a wallet's rejection if declined. If the service does not answer, the window stays
 * open.
 */
const askBuyer = (facts: TestFacts, walletId: string, transaction: Uint8Array): Promise<{ signature: Uint8Array }> =>
  new Promise((resolve, reject) => {
    openWalletDialog(dialogIn(sayIn(facts.text), facts), async (deed) => {
      if (deed === 'decline') reject(newRejection());
      if (deed === 'decline' || deed === 'leave') return null;
      const answer = await payAtPage(facts.slug, walletId, { transaction: toBase64(transaction), outcome: deed });
      if (!answer.ok) return sayIn(facts.text)(answer.status === 0 ? 'pOffline' : 'pUnknown', { code: answer.code });
      resolve({ signature: fromBase58(answer.value.tx_signature!)! });
      return null;
    });
  });

function registerTestWallet(facts: TestFacts): void {
  const walletId = readWalletId();
  registerOwnWallet({
    name: OWN_WALLET_NAMES.test,
    icon: ICON,
    feature: 'solana:signAndSendTransaction',
    connect: async () => {
      const answer = await payAtPage(facts.slug, walletId);
      if (!answer.ok) throw new Error(answer.code);
      const { address } = answer.value;
      return { address, publicKey: fromBase58(address)! };
    },
    act: (transaction) => askBuyer(facts, walletId, transaction),
  });
}

const facts = readFacts<TestFacts>();
if (facts?.ownWallet?.kind === 'test') registerTestWallet(facts);
