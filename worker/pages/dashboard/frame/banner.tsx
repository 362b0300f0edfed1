import type { Child } from 'hono/jsx';
import { DAY, iso } from '#core/time.ts';
import { hasRole, type Role } from '#rules/access/roles.ts';
import { newFormKey } from './format.tsx';

/** Parts of `GET /v1/account/me` that every page reports. */
export interface Reported {
  role: string;
  email: string | null;
  email_verified: boolean;
  has_password: boolean;
  email_problem?: 'bounced' | 'complained';
  sales_paused: boolean;
  claimed?: { at: string; keys: number; endpoints: number; providers: number; wallets: number };
}
interface BannerTerms {
  me: Reported;
  now: number;
  pathOf: (path: string) => string;
}

const CLAIM_SHOWN_MS = 30 * DAY;
const PROBLEMS = {
  bounced: 'came back, so none is sent there any more',
  complained: 'was reported as spam, so none is sent there any more',
};

/** Worst that a person must know on every page. Null if nothing is wrong. */
function worstOf({ me, now, pathOf }: BannerTerms): Child | null {
  const security = pathOf('/dashboard/security');
  const { claimed } = me;
  if (me.email_problem)
    return (
      <>
        An email to <bdi>{me.email}</bdi> {PROBLEMS[me.email_problem]}. <a href={security}>Confirm it again, or give another</a>
      </>
    );
  if (me.sales_paused)
    return (
      <>
        Sales are paused: nobody can begin to pay.
        {hasRole(me.role as Role, 'settings:write') && (
          <form class="act" method="post" action={pathOf('/dashboard/payouts')}>
            <input type="hidden" name="act" value="resume" />
            <input type="hidden" name="idempotency_key" value={newFormKey()} />
            <button type="submit">Resume sales</button>
          </form>
        )}
      </>
    );
  if (me.email !== null && !me.email_verified)
    return (
      <>
        Your email address <bdi>{me.email}</bdi> is not confirmed. <a href={security}>Send the email again</a>
      </>
    );
  if (me.email === null && me.has_password)
    return (
      <>
        Your email address left this account: another person proved that it is theirs. <a href={security}>Give another address</a>
      </>
    );
  if (claimed && claimed.at > iso(now - CLAIM_SHOWN_MS))
    return (
      <>
        {`This account is yours now. What others had is ended: ${claimed.keys} API keys, ${claimed.endpoints} endpoints, `}
        {`${claimed.providers} linked providers and ${claimed.wallets} payout wallets. `}
        <a href={pathOf('/dashboard/payouts')}>Name your payout wallet before you sell</a>
      </>
    );
  return null;
}

export function Banner(terms: BannerTerms) {
  const worst = worstOf(terms);
  return worst === null ? null : <div class="problem">{worst}</div>;
}
