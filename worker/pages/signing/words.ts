import type { SigningKey, TextKey } from '../locales/dictionaries.ts';
import { formatCount, formatInstant, formatMoney, formatPeriod, plain, type Say, toAmount } from '../parts/text.ts';
import type { Charge, TransactionStep } from '../parts/transaction.ts';

export type AnyKey = TextKey | SigningKey;
type SaySigning = Say<SigningKey>;

interface StepTextOptions {
  locale: string;
  usdcMints: readonly string[];
}

const USDC_DECIMALS = 6;
const LAMPORT_DECIMALS = 9;
const HOURS_A_DAY = 24n;

/** Describes the steps of a transaction, for the page and for the command line. */
export function stepTexts(say: SaySigning, { locale, usdcMints }: StepTextOptions): (step: TransactionStep) => string {
  const tokenOf = (mint: string): string => (usdcMints.includes(mint) ? 'USDC' : say('gToken', { mint }));
  const amountOf = (mint: string, units: bigint): string =>
    usdcMints.includes(mint)
      ? formatMoney(locale, toAmount('USDC', units, USDC_DECIMALS))
      : say('gUnits', { count: String(units), token: tokenOf(mint) });
  const periodOf = ({ hours }: Charge): string =>
    hours % HOURS_A_DAY === 0n ? formatPeriod(locale, Number(hours / HOURS_A_DAY), 'day') : formatPeriod(locale, Number(hours), 'hour');
  const termsOf = (terms: Charge) => ({ amount: amountOf(terms.mint, terms.units), period: periodOf(terms) });
  const listed = (addresses: string[]): string => addresses.join(', ') || say('gAnyone');
  // A date outside the calendar is shown as its number.
  const endOf = (seconds: bigint): string =>
    seconds === 0n
      ? say('gNoEnd')
      : say('gUntil', {
          time: seconds < 8_640_000_000_000n ? formatInstant(locale, new Date(Number(seconds) * 1000).toISOString(), 'UTC') : `${seconds}`,
        });
  return (step) => {
    switch (step.kind) {
      case 'plan': {
        const { owner, terms, destinations, collectors } = step;
        const lists = { destinations: listed(destinations), collectors: listed(collectors) };
        return say('gPlan', { owner, ...termsOf(terms), end: endOf(step.endsAt), ...lists, page: plain(step.page) || say('gNoPage') });
      }
      case 'authority':
        return say('gAuthority', { wallet: step.wallet, token: tokenOf(step.mint) });
      case 'subscribe':
        return say('gSubscribe', { wallet: step.wallet, owner: step.owner, ...termsOf(step.terms) });
      case 'transfer':
        return say('gTransfer', { amount: amountOf(step.mint, step.units), from: step.from, to: step.to });
      case 'lamports':
        return say('gTransfer', {
          amount: formatMoney(locale, toAmount('SOL', step.units, LAMPORT_DECIMALS)),
          from: step.from,
          to: step.to,
        });
      case 'account':
        return say('gAccount', { token: tokenOf(step.mint), owner: step.owner, payer: step.payer });
      case 'memo':
        return say('gMemo', { memo: plain(step.text) });
      case 'limit':
        return say('gLimit', { count: formatCount(locale, step.units) });
      case 'priority':
        return say('gPriority', { count: String(step.price) });
      case 'unknown':
        return say('gUnknown', { program: step.program });
    }
  };
}
