import { hasRole, type Need, type Role } from '#rules/access/roles.ts';

export type Mode = 'live' | 'sandbox';
export interface AccountOfPerson {
  account_id: string;
  display_name: string;
  role: string;
  current: boolean;
}

interface HeadTerms {
  me: { role: string; display_name: string };
  accounts: AccountOfPerson[];
  path: string;
  mode: Mode;
}

/** Link that stays in the mode of the page. */
export const linkTo = ({ mode }: { mode: Mode }, path: string): string => (mode === 'sandbox' ? `${path}?mode=sandbox` : path);

/** Page on which a wallet signs a transaction. The person continues on the screen. */
export const signPathOf = (screen: { mode: Mode; path: string }, transaction: string): string =>
  `/sign?${new URLSearchParams({ next: linkTo(screen, screen.path) })}#${transaction}`;

/** Pages of the navigation. `needs`: access without which the page is not named. */
const LINKS: [path: string, name: string, needs?: Need][] = [
  ['/dashboard', 'Home'],
  ['/dashboard/templates', 'Templates', 'products:read'],
  ['/dashboard/payments', 'Payments', 'payments:read'],
  ['/dashboard/unmatched', 'Unmatched money', 'payments:read'],
  ['/dashboard/receipts', 'Receipts', 'receipts:read'],
  ['/dashboard/customers', 'Customers', 'customers:read'],
  ['/dashboard/subscriptions', 'Subscriptions', 'payments:read'],
  ['/dashboard/webhooks', 'Webhooks', 'webhooks:read'],
  ['/dashboard/keys', 'API keys', 'keys:read'],
  ['/dashboard/sandbox', 'Sandbox', 'sandbox:read'],
  ['/dashboard/payouts', 'Payouts', 'payouts:read'],
  ['/dashboard/billing', 'Plan', 'billing:read'],
  ['/dashboard/support', 'Support', 'tickets:read'],
  ['/dashboard/team', 'Team', 'members:read'],
  ['/dashboard/log', 'Audit log', 'log:read'],
  ['/dashboard/security', 'Security'],
  ['/dashboard/settings', 'Settings', 'settings:read'],
];

/** Entries of the menu "New". */
const MAKES: [path: string, name: string, needs: Need][] = [
  ['/dashboard/templates/new', 'Template', 'products:write'],
  ['/dashboard/keys/new', 'API key', 'keys:write'],
  ['/dashboard/webhooks', 'Webhook endpoint', 'webhooks:write'],
  ['/dashboard/support', 'Support ticket', 'tickets:write'],
  ['/dashboard/team', 'Invitation', 'members:write'],
];
const isOpenTo = ({ role }: HeadTerms['me'], needs: Need | undefined): boolean => needs === undefined || hasRole(role as Role, needs);

const isWithin = (path: string, page: string): boolean => path === page || (page !== '/dashboard' && path.startsWith(`${page}/`));

/** Head of each page: account, mode, and a menu of all screens, search, and what can be made. Wide screens show the menu as a part of it. */
export function Head({ me, accounts, path, mode }: HeadTerms) {
  return (
    <header class="board-head">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <a class="home" href={linkTo({ mode }, '/dashboard')}>
        <bdi>{me.display_name}</bdi>
      </a>
      <Modes path={path} mode={mode} />
      <button type="button" class="menu-button" popovertarget="menu">
        Menu
      </button>
      <div class="menu" id="menu" popover="auto">
        <nav aria-label="Main">
          <ul>
            {LINKS.filter(([, , needs]) => isOpenTo(me, needs)).map(([to, name]) => (
              <li>
                <a href={linkTo({ mode }, to)} aria-current={isWithin(path, to) ? 'page' : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <search>
          <form method="get" action="/dashboard/search">
            {mode === 'sandbox' && <input type="hidden" name="mode" value="sandbox" />}
            <label for="search">Search</label>
            <input id="search" name="q" type="search" minlength={2} maxlength={200} required />
            <button type="submit">Find</button>
          </form>
        </search>
        <Make me={me} mode={mode} />
        <Who accounts={accounts} />
      </div>
    </header>
  );
}

/** Switch between live and test data. The name of the present mode is no link. */
const Modes = ({ path, mode }: Pick<HeadTerms, 'path' | 'mode'>) => (
  <p class="modes">
    {(['live', 'sandbox'] as const).map((one) => {
      const name = one === 'live' ? 'Live mode' : 'Test mode';
      return one === mode ? <strong aria-current="true">{name}</strong> : <a href={linkTo({ mode: one }, path)}>{name}</a>;
    })}
  </p>
);

const Who = ({ accounts }: Pick<HeadTerms, 'accounts'>) => (
  <div class="who">
    {accounts.length > 1 && (
      <form method="post" action="/dashboard/switch">
        <label for="account_id">Account</label>
        <select id="account_id" name="account_id">
          {accounts.map(({ account_id, display_name, current }) => (
            <option value={account_id} selected={current}>
              {display_name}
            </option>
          ))}
        </select>
        <button type="submit">Switch</button>
      </form>
    )}
    <form method="post" action="/dashboard/sign-out">
      <button type="submit">Sign out</button>
    </form>
  </div>
);

function Make({ me, mode }: Pick<HeadTerms, 'me' | 'mode'>) {
  const makes = MAKES.filter(([, , needs]) => isOpenTo(me, needs));
  if (makes.length === 0) return null;
  return (
    <details class="make">
      <summary>New</summary>
      <ul>
        {makes.map(([to, name]) => (
          <li>
            <a href={linkTo({ mode }, to)}>{name}</a>
          </li>
        ))}
      </ul>
    </details>
  );
}
