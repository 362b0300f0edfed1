import { type Say, shortened } from './text.ts';

/** Receives the focus when the step changes, so that a screen reader goes on where something happened. */
export const Title = ({ children }: { children?: unknown }) => (
  <h2 id="panel-title" tabindex={-1}>
    {children}
  </h2>
);

export const Mark = ({ kind }: { kind: 'done' | 'failed' | 'time' | 'nothing' | 'warn' }) => (
  <svg class={`mark mark-${kind}`} viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
    <circle cx="24" cy="24" r="22" />
    {kind === 'done' && <path d="M14 25l7 7 13-15" />}
    {(kind === 'failed' || kind === 'warn') && <path d="M24 13v14M24 33.5v.5" />}
    {kind === 'nothing' && <path d="M15 24h18" />}
    {kind === 'time' && <path d="M24 13v12l8 5" />}
  </svg>
);

export const Spinner = () => <span class="spinner" aria-hidden="true" />;

/** One fact of a list of them. */
export const Row = ({ name, isWide = false, children }: { name: string; isWide?: boolean; children?: unknown }) => (
  <div class={isWide ? 'wide' : ''}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** An address in groups of four, so that a person can compare two by eye; what is copied has no gaps. The ends stand out, because wallets show only them. */
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

export const Signature = ({ say, signature }: { say: Say; signature: string | null }) =>
  signature ? (
    <details class="signature">
      <summary>{say('signature')}</summary>
      <code>{signature}</code>
    </details>
  ) : null;

/** The mark of test money: it stands before every amount that cannot be spent. */
export const TestMoney = ({ say }: { say: Say }) => <span class="badge">{say('testMoney')}</span>;

/** The more digits, the smaller they are set: a number is never broken. */
export const sizeOf = (digits: string): string => (digits.length > 16 ? 'amount longest' : digits.length > 10 ? 'amount long' : 'amount');
