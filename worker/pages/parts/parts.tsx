import { type Say, shortened } from './text.ts';

/** Receives the focus when the step changes, so that a screen reader announces the new step. */
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

export const Row = ({ name, isWide = false, children }: { name: string; isWide?: boolean; children?: unknown }) => (
  <div class={isWide ? 'wide' : ''}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Groups of four characters, for comparison by eye. */
export const groupsOf = (address: string): string[] => [
  address.slice(0, 4),
  ...(address.slice(4, -4).match(/.{1,4}/g) ?? []),
  address.slice(-4),
];

/** Address in groups of four for comparison by eye, copied without gaps. Both ends are emphasized, because wallets show only those. */
export const Address = ({ address }: { address: string }) => (
  <span class="address">
    {groupsOf(address).map((group, index) => (
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

export const TestMoney = ({ say }: { say: Say }) => <span class="badge">{say('testMoney')}</span>;

/** Smaller font for longer numbers, so that a number never wraps. */
export const sizeOf = (digits: string): string => (digits.length > 16 ? 'amount longest' : digits.length > 10 ? 'amount long' : 'amount');

/** Sentence about a form that was just sent. The browser starts to read the page at it. */
export const Said = ({ children }: { children?: unknown }) => (
  <p class="done" role="status" tabindex={-1} autofocus>
    {children}
  </p>
);
