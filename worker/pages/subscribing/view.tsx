import type { SubscribingKey } from '../locales/dictionaries.ts';
import { Code, Newcomer, ReceiptEmail } from '../parts/elsewhere.tsx';
import { Address, Mark, Row, ShortAddress, Spinner, TestMoney, Title } from '../parts/parts.tsx';
import type { QrCode } from '../parts/qr.ts';
import { formatDay, formatInstant, formatMoney, formatPeriod, formatTime } from '../parts/text.ts';
import { isTest } from '../parts/wallet-choice.ts';
import { ByPhone } from './by-phone.tsx';
import type {
  AnyKey,
  AuthorizationStatus,
  ConsentKind,
  ManageFacts,
  Problem,
  SayAny,
  SubscribingFacts,
  SubscriptionState,
} from './facts.ts';
import { isSlow, problemTitle } from './machine.ts';
import type { StateAt, SubscribingState } from './state.ts';

export interface SubscribingActions {
  choose(walletName: string): void;
  goOn(): void;
  back(): void;
  startAgain(): void;
  finishIdentity(): void;
  openPhone(): void;
  receiptEmail(): string;
  storeEmail(email: string): void;
}

interface SubscribingProps<State extends SubscribingState = SubscribingState> {
  facts: SubscribingFacts;
  state: State;
  say: SayAny;
  actions?: SubscribingActions;
  drawCode?: (text: string) => QrCode;
}

export const termsOf = (facts: SubscribingFacts): Record<string, string> => ({
  price: formatMoney(facts.locale, facts.price),
  period: formatPeriod(facts.locale, facts.periodDays, 'day'),
  next: facts.page === 'subscribe' ? formatDay(facts.locale, facts.nextChargeAt) : '',
});

const STATUS_TEXTS: Record<AuthorizationStatus, SubscribingKey> = {
  pending: 'mPending',
  active: 'mActive',
  past_due: 'mPastDue',
  cancel_requested: 'mCancelRequested',
  cancelled: 'mCancelled',
  requires_reapproval: 'mReapproval',
  expired: 'mExpired',
};

interface ViewProps {
  facts: ManageFacts;
  subscription: SubscriptionState;
  say: SayAny;
  /** Zone of the times. The browser’s own if left out. */
  zone?: string;
}

/** State of a subscription. Rendered by the server in UTC, and by the browser in its own time zone. */
export function SubscriptionView({ facts, subscription, say, zone }: ViewProps) {
  const { locale, network, price } = facts;
  const { status, nextChargeAt, paidThrough } = subscription;
  const date = nextChargeAt === null ? '' : formatDay(locale, nextChargeAt, zone);
  return (
    <>
      <p role="status">{say(STATUS_TEXTS[status], { price: formatMoney(locale, price), date })}</p>
      <dl class="facts">
        <Row name={facts.productName}>
          {say('mEvery', termsOf(facts))} {network === 'devnet' && <TestMoney say={say} />}
        </Row>
        <Row name={say('mNext')}>{nextChargeAt === null ? say('mNone') : formatInstant(locale, nextChargeAt, zone)}</Row>
        {paidThrough !== null && <Row name={say('mPaidThrough')}>{formatInstant(locale, paidThrough, zone)}</Row>}
        <Row name={say('wallet')}>
          <Address address={facts.wallet} />
        </Row>
        <Row name={say('mPaidTo')}>
          <ShortAddress address={facts.recipient} />
        </Row>
      </dl>
      {status === 'requires_reapproval' && (
        <a class="button" href={`/p/${facts.slug}`}>
          {say('mReapprove')}
        </a>
      )}
    </>
  );
}

export const SubscribingPanel = (props: SubscribingProps) => (
  <div class={`panel step-${props.state.step}`}>
    <StepView {...props} />
  </div>
);

function StepView({ state, ...props }: SubscribingProps) {
  const { facts, say } = props;
  switch (state.step) {
    case 'choosing':
      return <Choice {...props} state={state} />;
    case 'opening':
      return <Busy {...props} title="connecting" help="connectingHelp" wallet={state.walletName} hasBack />;
    case 'preparing':
      return <Busy {...props} title="sPreparing" help="sPreparingHelp" />;
    case 'identity':
      return <Identity {...props} state={state} />;
    case 'explaining':
      return <Explained {...props} state={state} />;
    case 'asking':
      return <Busy {...props} title="sAsking" help="sAskingHelp" wallet={state.walletName} hasBack />;
    case 'sending':
    case 'landing':
      return <Busy {...props} title="sSending" help="sSendingHelp" />;
    case 'collecting': {
      const values = { ...termsOf(facts), time: formatTime(facts.locale, state.expiresAt) };
      return <Busy {...props} title="sCollecting" help={isSlow(state) ? 'sCollectingLong' : 'sCollectingHelp'} values={values} />;
    }
    case 'done':
      return <Done {...props} state={state} />;
    case 'cancelled':
      return <Cancelled {...props} state={state} />;
    case 'already':
      return (
        <>
          <Mark kind="done" />
          <Title>{say('sSubscribed')}</Title>
          <p>{say('sSubscribedHelp')}</p>
          <a class="button" href={state.path}>
            {say('sManage')}
          </a>
          <StartOther {...props} />
        </>
      );
    case 'failed':
      return (
        <>
          <Mark kind="failed" />
          <Title>{say('sFailed')}</Title>
          <p>{say(state.isCollection ? 'sFailedCollection' : 'sFailedExpired')}</p>
          {state.isCollection && state.authorizationId !== null && (
            <a class="button" href={`/s/${state.authorizationId}`}>
              {say('sTakeBack')}
            </a>
          )}
          <button type="button" class="plain-button" onClick={() => props.actions?.startAgain()}>
            {say('startAgain')}
          </button>
        </>
      );
  }
}

const ProblemNote = ({ facts, problem, say }: { facts: SubscribingFacts; problem: Problem | null; say: SayAny }) =>
  problem ? (
    <div class={problem.key === 'identityNotYet' ? 'problem unclear' : 'problem'}>
      <strong>{say(problemTitle(facts, problem))}</strong>
      <p>{say(problem.key, problem.values)}</p>
    </div>
  ) : null;

function Choice({ facts, state, say, actions, drawCode }: SubscribingProps<StateAt<'choosing'>>) {
  const isManage = facts.page === 'manage';
  const usable = state.wallets?.filter(({ isUsable }) => isUsable).length ?? 0;
  if (facts.page === 'subscribe' && facts.obstacle !== null)
    return (
      <div class="notice">
        <Title>{say('unavailable')}</Title>
        <p>{say(facts.obstacle)}</p>
      </div>
    );
  return (
    <>
      <Title>{say(isManage ? 'mCancel' : 'sChoose')}</Title>
      <p>{say(isManage ? 'mCancelHelp' : 'sTerms', termsOf(facts))}</p>
      <ProblemNote facts={facts} problem={state.problem} say={say} />
      {facts.page === 'subscribe' && facts.handoffToken === null && actions && (
        <ReceiptEmail value={actions.receiptEmail()} store={actions.storeEmail} say={say} />
      )}
      <section class="way" aria-label={say('onThisDevice')}>
        {state.wallets === null && <p class="quiet needs-script">{say('lookingForWallets')}</p>}
        {state.wallets?.length === 0 && <NoWallet facts={facts} say={say} />}
        {state.wallets !== null && state.wallets.length > 0 && (
          <ul class="wallets">
            {state.wallets.map((wallet) => (
              <li key={wallet.name}>
                <button
                  type="button"
                  class={`wallet${wallet.isOwn ? ' wallet-own' : ''}${usable === 1 && wallet.isUsable && !isManage ? ' wallet-only' : ''}`}
                  aria-disabled={wallet.isUsable ? undefined : 'true'}
                  onClick={() => actions?.choose(wallet.name)}
                >
                  {wallet.icon && <img src={wallet.icon} alt="" width="28" height="28" />}
                  <span class="wallet-name">{say(isManage ? 'mWith' : 'sWith', { wallet: wallet.name })}</span>
                  {wallet.isUsable && !isManage && <span class="go">{say('sPricePer', termsOf(facts))}</span>}
                  {!wallet.isUsable && <span class="tag">{say('wrongNetworkTag', { network: say(facts.network) })}</span>}
                </button>
                {wallet.isOwn && <p class="own-note">{say(isTest(facts) ? 'testWallet' : 'demoWallet')}</p>}
              </li>
            ))}
          </ul>
        )}
      </section>
      {state.wallets !== null && (
        <ByPhone
          facts={facts}
          hasWallet={state.wallets.some(({ isUsable }) => isUsable)}
          isOpen={state.isPhoneOpen}
          open={() => actions?.openPhone()}
          say={say}
          drawCode={drawCode}
        />
      )}
      {isManage && <p class="quiet">{say('mLost')}</p>}
    </>
  );
}

const NoWallet = ({ facts, say }: { facts: SubscribingFacts; say: SayAny }) => (
  <div class="no-wallet">
    <p>{say('noWallet')}</p>
    <p class="quiet">{say(facts.isPhone ? 'sNoWalletPhone' : 'sNoWalletDesktop')}</p>
    {facts.page === 'subscribe' && <Newcomer {...facts} say={say} />}
  </div>
);

interface BusyTerms {
  title: AnyKey;
  help: AnyKey;
  wallet?: string;
  values?: Record<string, string>;
  hasBack?: boolean;
}

function Busy({ say, actions, title, help, wallet = '', values = {}, hasBack = false }: Omit<SubscribingProps, 'state'> & BusyTerms) {
  return (
    <>
      <Spinner />
      <Title>{say(title, { wallet })}</Title>
      <p>{say(help, { wallet, ...values })}</p>
      {hasBack && (
        <button type="button" class="plain-button" onClick={() => actions?.back()}>
          {say('back')}
        </button>
      )}
    </>
  );
}

const CONSENT_TEXTS: Record<ConsentKind, { title: AnyKey; help: AnyKey }> = {
  approve: { title: 'sApprove', help: 'sApproveHelp' },
  subscribe: { title: 'sSubscribe', help: 'sSubscribeHelp' },
  resume: { title: 'sResume', help: 'sResumeHelp' },
  revoke: { title: 'sRevoke', help: 'sRevokeHelp' },
  cancel: { title: 'mExplain', help: 'mExplainHelp' },
};

const MONTH_DAYS = 30;

function Explained({ facts, state, say, actions }: SubscribingProps<StateAt<'explaining'>>) {
  const { consent, effectiveAt, walletName } = state;
  const { title, help } = CONSENT_TEXTS[consent.kind];
  const time = effectiveAt === null ? '' : formatInstant(facts.locale, effectiveAt);
  return (
    <>
      {consent.steps > 1 && <p class="quiet">{say('sStepOf', { step: String(consent.step), steps: String(consent.steps) })}</p>}
      <Title>{say(consent.kind === 'approve' && facts.periodDays === MONTH_DAYS ? 'sApproveMonthly' : title, termsOf(facts))}</Title>
      <p>{say(help, { ...termsOf(facts), time })}</p>
      <button type="button" class="button" onClick={() => actions?.goOn()}>
        {say('sContinue', { wallet: walletName })}
      </button>
      <button type="button" class="plain-button" onClick={() => actions?.back()}>
        {say('back')}
      </button>
    </>
  );
}

function Identity({ facts, state, say, actions, drawCode }: SubscribingProps<StateAt<'identity'>>) {
  const { provider, deepLink } = state;
  return (
    <>
      <Title>{say('identity')}</Title>
      <p>{say('identityHelp', { provider })}</p>
      <ProblemNote facts={facts} problem={state.problem} say={say} />
      <a class="button" href={deepLink} target="_blank" rel="noopener noreferrer">
        {say('identityOpen', { provider })}
      </a>
      {facts.page === 'subscribe' && !facts.isPhone && <Code text={deepLink} label={say('identityQr', { provider })} drawCode={drawCode} />}
      <p class="quiet">{say('identityWaits')}</p>
      <button type="button" class="plain-button" onClick={() => actions?.finishIdentity()}>
        {say('identityDone')}
      </button>
    </>
  );
}

const StartOther = ({ say, actions }: Omit<SubscribingProps, 'state'>) => (
  <button type="button" class="link-button" onClick={() => actions?.startAgain()}>
    {say('sOther')}
  </button>
);

function Cancelled({ facts, state: { effectiveAt }, say }: SubscribingProps<StateAt<'cancelled'>>) {
  const time = effectiveAt === null ? '' : formatInstant(facts.locale, effectiveAt);
  return (
    <>
      <Mark kind="done" />
      <Title>{say('mDone')}</Title>
      <p>{effectiveAt === null ? say('mCancelled') : say('mDoneHelp', { time })}</p>
    </>
  );
}

function Done({ state, ...props }: SubscribingProps<StateAt<'done'>>) {
  const { facts, say } = props;
  const { receiptId, redirectUrl, authorizationId, accessUntil, nextChargeAt } = state;
  const isOfLink = facts.page === 'subscribe' && (facts.paymentSessionId !== null || facts.handoffToken !== null);
  return (
    <>
      <Mark kind="done" />
      <Title>{say('sDone')}</Title>
      <p>{say('sDoneHelp', termsOf(facts))}</p>
      <ul class="gets">
        {accessUntil !== null && <li>{say('accessUntil', { date: formatDay(facts.locale, accessUntil) })}</li>}
        {nextChargeAt !== null && <li>{say('sNextCharge', { ...termsOf(facts), next: formatDay(facts.locale, nextChargeAt) })}</li>}
      </ul>
      {redirectUrl !== null && (
        <a class="button" href={redirectUrl}>
          {say('continueTo', { host: new URL(redirectUrl).host })}
        </a>
      )}
      {receiptId !== null && (
        <a class={redirectUrl === null ? 'button' : 'plain-button'} href={`/r/${receiptId}`}>
          {say('receipt')}
        </a>
      )}
      {authorizationId !== null && (
        <a class="plain-button" href={`/s/${authorizationId}`}>
          {say('sManage')}
        </a>
      )}
      {!isOfLink && <StartOther {...props} />}
    </>
  );
}
