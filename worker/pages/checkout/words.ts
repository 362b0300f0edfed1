import type { TextKey } from '../locales/dictionaries.ts';
import { compareAmounts, formatMoney, sumOf, without } from '../parts/text.ts';
import type { PageFacts } from './facts.ts';
import { type PageAt, type PageState, payingSignatureOf, type Step } from './state.ts';

interface StepTexts {
  title: TextKey;
  help: TextKey | null;
  values?: Record<string, string>;
}

const TEXTS: { [S in Step]: (state: PageAt<S>, facts: PageFacts) => StepTexts } = {
  choosing: () => ({ title: 'choose', help: null }),
  unavailable: ({ reason }) => ({ title: 'unavailable', help: reason }),
  connecting: ({ walletName }) => ({ title: 'connecting', help: 'connectingHelp', values: { wallet: walletName } }),
  waiting: ({ request }) => ({ title: 'waiting', help: 'waitingHelp', values: { wallet: request.walletName } }),
  sending: () => ({ title: 'sending', help: null }),
  seen: ({ isSlow }) => ({ title: 'seen', help: isSlow ? 'seenLong' : 'seenHelp' }),
  confirmed: ({ status }, { locale }) => ({
    title: 'confirmed',
    help: 'confirmedHelp',
    values: { price: formatMoney(locale, status.price) },
  }),
  failed: ({ status: { failure_code: code } }) =>
    code === 'replaced'
      ? { title: 'replaced', help: 'replacedHelp' }
      : { title: 'failed', help: code === 'underpaid' ? 'failedShort' : 'failedChain' },
  expired: (state) => ({ title: 'expired', help: payingSignatureOf(state) ? 'expiredSent' : 'expiredHelp' }),
  closing: ({ payment }) => ({ title: 'closing', help: payment.quote ? 'closingQuote' : 'closingHelp' }),
  short: ({ money, status }, { locale }) => {
    const arrived = sumOf(money.map(({ amount }) => amount));
    const isLess = compareAmounts(arrived, status.price) < 0;
    const values = {
      arrived: formatMoney(locale, arrived),
      price: formatMoney(locale, status.price),
      missing: isLess ? formatMoney(locale, without(status.price, arrived)) : '',
    };
    return { title: 'short', help: isLess ? 'shortHelp' : 'shortParts', values };
  },
  late: () => ({ title: 'late', help: 'lateHelp' }),
  identity: ({ identity }) => ({ title: 'identity', help: 'identityHelp', values: { provider: identity.provider } }),
  underway: ({ found }, { locale }) => ({
    title: 'underway',
    help: 'underwayHelp',
    values: { price: formatMoney(locale, found.payment.price) },
  }),
};

export const stepTextsOf = (state: PageState, facts: PageFacts): StepTexts =>
  (TEXTS[state.step] as (state: PageState, facts: PageFacts) => StepTexts)(state, facts);
