import type { Actions, PageFacts, State } from './model.ts';
import { formatMoney, formatTime, type Say, shortened } from './text.ts';

/** Everything of the page that changes. Rendered on the server once, then by the browser; without state of its own. */
export interface PanelProps {
  facts: PageFacts;
  state: State;
  say: Say;
  /** Absent on the server: nothing can be done before the browser is there. */
  actions?: Actions;
}

/** Receives the focus when the step changes, so that a screen reader goes on where something happened. */
export const Title = ({ children }: { children?: unknown }) => (
  <h2 id="panel-title" tabindex={-1}>
    {children}
  </h2>
);

export const Mark = ({ kind }: { kind: 'done' | 'failed' | 'time' | 'nothing' }) => (
  <svg class={`mark mark-${kind}`} viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
    <circle cx="24" cy="24" r="22" />
    {kind === 'done' && <path d="M14 25l7 7 13-15" />}
    {kind === 'failed' && <path d="M24 13v14M24 33.5v.5" />}
    {kind === 'nothing' && <path d="M15 24h18" />}
    {kind === 'time' && <path d="M24 13v12l8 5" />}
  </svg>
);

export const Spinner = () => <span class="spinner" aria-hidden="true" />;

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

/** One fact of a list of them. */
export const Row = ({ name, isWide = false, children }: { name: string; isWide?: boolean; children?: unknown }) => (
  <div class={isWide ? 'wide' : ''}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Four by four, so that two addresses can be compared by eye; copied, it is whole. Its ends are what wallets show of it. */
export const Address = ({ address }: { address: string }) => (
  <span class="address">
    {[address.slice(0, 4), ...(address.slice(4, -4).match(/.{1,4}/g) ?? []), address.slice(-4)].map((group, index) => (
      <span key={index}>{group}</span>
    ))}
  </span>
);

export const ShortAddress = ({ address }: { address: string }) => (
  <span class="mono" title={address}>
    {shortened(address)}
  </span>
);

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

export const Signature = ({ say, signature }: { say: Say; signature: string | null }) =>
  signature ? (
    <details class="signature">
      <summary>{say('signature')}</summary>
      <code>{signature}</code>
    </details>
  ) : null;
