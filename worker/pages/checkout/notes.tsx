import type { TextKey } from '../locales/dictionaries.ts';
import { Title } from '../parts/parts.tsx';
import { formatMoney, formatTime, type Say } from '../parts/text.ts';
import type { PageFacts, PagePayment, Problem } from './facts.ts';
import type { PageState } from './state.ts';
import { stepTextsOf } from './words.ts';

export interface Actions {
  payWith(walletName: string): void;
  openPhone(): void;
  copy(what: string, text: string, event: Event): void;
  cancel(): void;
  startAgain(): void;
  startOver(): void;
  stay(): void;
  receiptEmail(): string;
  storeEmail(email: string): void;
  dismissShort(): void;
  submitSignature(event: Event): void;
  chooseAsset(asset: string): void;
  finishIdentity(): void;
  continueFound(): void;
  declineFound(): void;
}

export interface PanelProps<State extends PageState = PageState> {
  facts: PageFacts;
  state: State;
  say: Say;
  actions?: Actions;
  drawCode?: (text: string) => { size: number; path: string };
}

export function StepTitle({ facts, state, say }: PanelProps) {
  const { title, values } = stepTextsOf(state, facts);
  return <Title>{say(title, values)}</Title>;
}

export function StepHelp({ facts, state, say }: PanelProps) {
  const { help, values } = stepTextsOf(state, facts);
  return help === null ? null : <p>{say(help, values)}</p>;
}

/** Notices that are not problems. An unclear payment never reads as "not paid". */
const CALM: Partial<Record<TextKey, TextKey>> = { pUnclear: 'checkingPaid', identityNotYet: 'identity', identityRenewed: 'identity' };

export const problemTitle = ({ key }: Problem): TextKey => CALM[key] ?? 'problem';

export const ProblemNote = ({ problem, say }: { problem: Problem | null; say: Say }) =>
  problem ? (
    <div class={CALM[problem.key] ? 'problem unclear' : 'problem'}>
      <strong>{say(problemTitle(problem))}</strong>
      <p>{say(problem.key, problem.values)}</p>
    </div>
  ) : null;

export const TwiceNote = ({ state, say }: PanelProps) =>
  state.isTwice ? (
    <div class="problem">
      <p>{say('pTwice')}</p>
    </div>
  ) : null;

export function Due({ facts: { locale }, payment, say }: Pick<PanelProps, 'facts' | 'say'> & { payment: PagePayment | null }) {
  if (!payment) return null;
  const { price, quote } = payment;
  const rate = quote && formatMoney(locale, { asset: 'USDC', amount: quote.rate });
  return (
    <p class="quote">
      <strong>{formatMoney(locale, price)}</strong>
      {quote && <span>{say('quote', { asset: 'SOL', rate: rate!, time: formatTime(locale, quote.expiresAt) })}</span>}
    </p>
  );
}

/** Bar of the remaining time. Hidden from screen readers, which have the digits. */
export const Bar = ({ left, total }: { left: number; total: number }) => (
  <progress class={left <= 60 ? 'bar bar-short' : 'bar'} value={left} max={Math.max(left, total)} aria-hidden="true" />
);

/** Lifetime of a payment. A quote lasts five minutes. */
export const totalOf = ({ sessionSeconds }: PageFacts, payment: PagePayment | null): number =>
  payment?.quote ? Math.min(300, sessionSeconds) : sessionSeconds;

/** Digits are not announced every second. The status line announces five minutes and one minute. */
export const Timer = ({ secondsLeft }: { secondsLeft: number }) => (
  <span class={secondsLeft <= 60 ? 'timer time-short' : 'timer'} role="timer" aria-live="off">
    {`${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, '0')}`}
  </span>
);
