import { Row, ShortAddress, Spinner } from '../../parts/parts.tsx';
import { formatInstant, formatMoney, plain, plainName } from '../../parts/text.ts';
import { loginPathOf } from '../facts.ts';
import { FreshProblem, PageTitle, ProblemNote } from '../parts.tsx';
import { titleOf } from '../provider-return.ts';
import { Keys } from './keys.tsx';
import type { OpenDashboard, ShownClaim } from './machine.ts';
import type { DashboardProps } from './props.ts';

export function Dashboard(props: DashboardProps) {
  const { state, say, actions } = props;
  switch (state.step) {
    case 'loading':
    case 'leaving':
      return (
        <div class="panel step-waiting">
          <Spinner />
          <PageTitle>{say('dashboard')}</PageTitle>
          <p>{say(state.step === 'loading' ? 'loading' : 'oneMoment')}</p>
        </div>
      );
    case 'failed':
      return (
        <div class="panel">
          <PageTitle>{say('dashboard')}</PageTitle>
          <ProblemNote problem={state.problem} say={say} />
          <button type="button" class="button" onClick={() => actions?.reload()}>
            {say('loadAgain')}
          </button>
          <SignOut {...props} />
        </div>
      );
    case 'open':
      return (
        <div class="panels">
          <PageTitle>{say('dashboard')}</PageTitle>
          <nav class="papers" aria-label={say('dashboard')}>
            <a href="/dashboard/payments">{say('payments')}</a>
            <a href="/dashboard/team">{say('team')}</a>
            <a href="/dashboard/security">{say('security')}</a>
            <a href="/dashboard/log">{say('auditLog')}</a>
          </nav>
          {state.claim && <Claimed {...props} claim={state.claim} />}
          <Person {...props} state={state} />
          <Identities {...props} state={state} />
          <Products {...props} state={state} />
          <Keys {...props} state={state} />
          <WayOn {...props} state={state} />
          <SignOut {...props} />
        </div>
      );
  }
}

const SignOut = ({ say, actions }: DashboardProps) => (
  <button type="button" class="plain-button" onClick={() => actions?.signOut()}>
    {say('signOut')}
  </button>
);

/** Access that ended with the verification of the address. The email about it may be missing, because a deployment can have no mail. */
function Claimed({ facts, say, claim }: DashboardProps & { claim: ShownClaim }) {
  const ended = Object.fromEntries(Object.entries(claim.ended).map(([name, count]) => [name, String(count)]));
  return (
    <section class="panel" aria-labelledby="claimed">
      <h2 id="claimed">{say('claimedTitle')}</h2>
      <p>{say('claimedHelp', { at: formatInstant(facts.locale, claim.at) })}</p>
      <p>{say('claimedEnded', ended)}</p>
      <p>{say('claimedNext')}</p>
    </section>
  );
}

function Person(props: DashboardProps<OpenDashboard>) {
  const { say, state } = props;
  const { account } = state;
  return (
    <section class="panel" aria-labelledby="account">
      <h2 id="account">{say('account')}</h2>
      <dl class="facts">
        <Row name={say('name')}>
          <bdi>{plainName(account.name)}</bdi>
        </Row>
        {account.email !== null && (
          <Row name={say('email')}>
            <bdi>{plain(account.email)}</bdi>{' '}
            <span class="quiet">({say(account.isVerified ? 'addressConfirmed' : 'addressUnconfirmed')})</span>
          </Row>
        )}
        {account.wallet !== null && (
          <Row name={say('wallet')}>
            <ShortAddress address={account.wallet} />
          </Row>
        )}
        <Row name={say('plan')}>{account.plan}</Row>
      </dl>
      {account.email === null && (
        <p class="notice">
          {say('noAddress')} <a href="/dashboard/security">{say('security')}</a>
        </p>
      )}
      {account.email !== null && account.unreachable !== null && (
        <p class="notice">{say(ADDRESS_PROBLEMS[account.unreachable], { email: plain(account.email) })}</p>
      )}
      {account.email !== null && (!account.isVerified || account.unreachable !== null) && <Unconfirmed {...props} email={account.email} />}
    </section>
  );
}

const ADDRESS_PROBLEMS = { bounced: 'addressBounced', complained: 'addressComplained' } as const;

function Unconfirmed({ say, state, actions, email }: DashboardProps<OpenDashboard> & { email: string }) {
  const { verification } = state;
  return (
    <div class="way">
      <ProblemNote problem={verification.problem} say={say} />
      {verification.isSent ? (
        <p role="status">{say('letterSent', { email: plain(email) })}</p>
      ) : (
        <button type="button" class="plain-button" disabled={verification.isBusy} onClick={() => actions?.requestEmail()}>
          {say('askToConfirm')}
        </button>
      )}
    </div>
  );
}

function Products({ facts, say, state }: DashboardProps<OpenDashboard>) {
  const { products, productsTotal } = state;
  return (
    <section class="panel" aria-labelledby="products">
      <h2 id="products">{say('products')}</h2>
      {products.length === 0 && <p class="quiet">{say('noProducts')}</p>}
      <ul class="rows" hidden={products.length === 0}>
        {products.map((product) => (
          <li key={product.id}>
            <span>
              <bdi>{plainName(product.name)}</bdi>
              <small class="quiet">
                {formatMoney(facts.locale, product.price)} · {say(product.isLive ? 'live' : 'test')}
              </small>
            </span>
            {product.isActive ? (
              <a href={product.checkoutUrl} aria-label={`${say('checkoutPage')}: ${plainName(product.name)}`}>
                {say('checkoutPage')}
              </a>
            ) : (
              <span class="quiet">{say('notForSale')}</span>
            )}
          </li>
        ))}
      </ul>
      {productsTotal > products.length && (
        <p class="quiet">{say('someOf', { shown: String(products.length), total: String(productsTotal) })}</p>
      )}
    </section>
  );
}

export const NEXT_STEPS = [
  { key: 'goProduct', href: '/docs#first-sale' },
  { key: 'goCheckout', href: '/docs#checkout' },
  { key: 'goPerRequest', href: '/docs#x402' },
  { key: 'goWebhooks', href: '/docs#webhooks' },
  { key: 'goSandbox', href: '/docs#sandbox' },
  { key: 'goReference', href: '/v1/docs' },
  { key: 'goMachines', href: '/llms.txt' },
] as const;

const WayOn = ({ say }: DashboardProps<OpenDashboard>) => (
  <section class="panel" aria-labelledby="way-on">
    <h2 id="way-on">{say('whereToGo')}</h2>
    <ul class="rows">
      {NEXT_STEPS.map(({ key, href }) => (
        <li key={key}>
          <a href={href}>{say(key)}</a>
        </li>
      ))}
    </ul>
  </section>
);

function Identities({ facts, say, state, actions }: DashboardProps<OpenDashboard>) {
  const { identities, linking } = state;
  const others = facts.providers.filter(({ name }) => !identities.some(({ provider }) => provider === name));
  if (identities.length === 0 && others.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="identities">
      <h2 id="identities">{say('identities')}</h2>
      <FreshProblem problem={linking.problem} say={say} again={loginPathOf(facts, { next: facts.dashboardPath, why: 'again' })} />
      {linking.linked !== null && (
        <p class="recognised" role="status">
          {say('oLinked', { provider: titleOf(facts.providers, linking.linked) })}
        </p>
      )}
      <ul class="rows" hidden={identities.length === 0}>
        {identities.map(({ provider, email }) => {
          const title = titleOf(facts.providers, provider);
          return (
            <li key={provider}>
              <span>
                {title}
                {email !== null && (
                  <small class="quiet">
                    <bdi>{plain(email)}</bdi>
                  </small>
                )}
              </span>
              <button type="button" class="link-button" disabled={linking.isBusy} onClick={() => actions?.unlink(provider)}>
                {say('unlinkProvider', { provider: title })}
              </button>
            </li>
          );
        })}
      </ul>
      {others.map(({ name, title }) => (
        <button key={name} type="button" class="plain-button" disabled={linking.isBusy} onClick={() => actions?.link(name)}>
          {say('linkProvider', { provider: title })}
        </button>
      ))}
    </section>
  );
}
