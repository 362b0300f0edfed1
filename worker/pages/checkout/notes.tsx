import { formatMoney, formatTime, type Say } from '../parts/text.ts';
import type { Actions, PageFacts, State } from './state.ts';

/** Everything of the page that changes. Rendered on the server once, then by the browser; without state of its own. */
export interface PanelProps {
  facts: PageFacts;
  state: State;
  say: Say;
  /** Absent on the server: nothing can be done before the browser is there. */
  actions?: Actions;
}

export const ProblemNote = ({ state, say }: PanelProps) =>
  state.problem ? (
    <div class="problem">
      <strong>{say('problem')}</strong>
      <p>{say(state.problem.key, state.problem.values)}</p>
    </div>
  ) : null;

/** Two wallets have paid: whatever else is said, this is too. */
export const TwiceNote = ({ state, say }: Pick<PanelProps, 'state' | 'say'>) =>
  state.isTwice ? (
    <div class="problem">
      <p>{say('pTwice')}</p>
    </div>
  ) : null;

/** What a session asks for, and where it was quoted, at which rate and until when. */
export function Due({ facts: { locale }, state: { session }, say }: PanelProps) {
  if (!session) return null;
  const { price, quote } = session;
  const rate = quote && formatMoney(locale, { asset: 'USDC', amount: quote.rate });
  return (
    <p class="quote">
      <strong>{formatMoney(locale, price)}</strong>
      {quote && <span>{say('quote', { asset: 'SOL', rate: rate!, time: formatTime(locale, quote.expiresAt) })}</span>}
    </p>
  );
}
