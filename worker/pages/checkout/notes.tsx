import type { TextKey } from '../locales/dictionaries.ts';
import { Title } from '../parts/parts.tsx';
import { formatMoney, formatTime, type Say } from '../parts/text.ts';
import type { PageFacts, PagePayment, Problem } from './facts.ts';
import type { PageState } from './state.ts';
import { wordsOf } from './words.ts';

/** What a person can do on the page. */
export interface Actions {
  payWith(walletName: string): void;
  openPhone(): void;
  copy(what: string, text: string, event: Event): void;
  cancel(): void;
  startAgain(): void;
  /** In the place of a payment whose time is over and that is unsigned. */
  startAnew(): void;
  stay(): void;
  receiptEmail(): string;
  keepEmail(email: string): void;
  /** Pays the whole price although less of it has arrived. */
  dismissShort(): void;
  submitSignature(event: Event): void;
  chooseAsset(asset: string): void;
  finishIdentity(): void;
  /** The buyer goes on with the payment that was begun elsewhere. */
  continueFound(): void;
  /** The buyer leaves the payment that was begun elsewhere alone and begins another. */
  declineFound(): void;
}

/** Everything of the page that changes. Rendered on the server once, then by the browser; without state of its own. */
export interface PanelProps<State extends PageState = PageState> {
  facts: PageFacts;
  state: State;
  say: Say;
  /** Absent on the server, because a buyer can do nothing before the script runs. */
  actions?: Actions;
  /** Absent on the server, which shows no payment. */
  drawCode?: (text: string) => { size: number; path: string };
}

export function StepTitle({ facts, state, say }: PanelProps) {
  const { title, values } = wordsOf(state, facts);
  return <Title>{say(title, values)}</Title>;
}

export function StepHelp({ facts, state, say }: PanelProps) {
  const { help, values } = wordsOf(state, facts);
  return help === null ? null : <p>{say(help, values)}</p>;
}

/** Nothing has failed: a step is left, or it is not known yet. What is unclear never reads as "not paid". */
const CALM: Partial<Record<TextKey, TextKey>> = { pUnclear: 'checkingPaid', identityNotYet: 'identity', identityRenewed: 'identity' };

export const problemTitle = ({ key }: Problem): TextKey => CALM[key] ?? 'problem';

export const ProblemNote = ({ problem, say }: { problem: Problem | null; say: Say }) =>
  problem ? (
    <div class={CALM[problem.key] ? 'problem unclear' : 'problem'}>
      <strong>{say(problemTitle(problem))}</strong>
      <p>{say(problem.key, problem.values)}</p>
    </div>
  ) : null;

/** Two wallets have paid: this is said beside all else. */
export const TwiceNote = ({ state, say }: PanelProps) =>
  state.isTwice ? (
    <div class="problem">
      <p>{say('pTwice')}</p>
    </div>
  ) : null;

/** What a payment asks for, and where it was quoted, at which rate and until when. */
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

/** What is left of a time, as a bar that empties; the digits beside it, or the words, say the same to who cannot see it. */
export const Bar = ({ left, whole }: { left: number; whole: number }) => (
  <progress class={left <= 60 ? 'bar bar-short' : 'bar'} value={left} max={Math.max(left, whole)} aria-hidden="true" />
);

/** How long a payment lasts in all: a quote five minutes. */
export const wholeOf = ({ sessionSeconds }: PageFacts, payment: PagePayment | null): number =>
  payment?.quote ? Math.min(300, sessionSeconds) : sessionSeconds;

/** The digits change every second and are not read aloud; the status line speaks at five minutes and at one. */
export const Timer = ({ secondsLeft }: { secondsLeft: number }) => (
  <span class={secondsLeft <= 60 ? 'timer time-short' : 'timer'} role="timer" aria-live="off">
    {`${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, '0')}`}
  </span>
);
