import { Code, ReceiptEmail } from '../parts/elsewhere.tsx';
import { Address, Row, ShortAddress, Signature, Spinner } from '../parts/parts.tsx';
import { formatMoney, formatTime, without } from '../parts/text.ts';
import type { PagePayment } from './facts.ts';
import { Bar, Due, type PanelProps, ProblemNote, StepHelp, StepTitle, Timer, TwiceNote, totalOf } from './notes.tsx';
import { Closing, Confirmed, Ended, Late, Short } from './outcome.tsx';
import { type PageAt, payingSignatureOf, type Step } from './state.ts';
import { Assets, ByPhone, Wallets } from './ways.tsx';

export const Panel = (props: PanelProps) => (
  <div class={`panel step-${props.state.step}`}>
    <StepView {...props} />
    <WayBack {...props} />
  </div>
);

/** Steps at which a buyer may leave: nothing is paid and no wallet is open. */
const LEAVABLE: Step[] = ['choosing', 'unavailable', 'identity', 'underway', 'failed', 'expired'];

function WayBack({ facts: { cancelUrl }, state, say }: PanelProps) {
  if (cancelUrl === null || !LEAVABLE.includes(state.step)) return null;
  return (
    <a class="way-back" href={cancelUrl} rel="noreferrer">
      {say('wayBack', { host: new URL(cancelUrl).host })}
    </a>
  );
}

function StepView({ state, ...props }: PanelProps) {
  switch (state.step) {
    case 'choosing':
      return <ChoiceView {...props} state={state} />;
    case 'unavailable':
      return <UnavailableView {...props} state={state} />;
    case 'connecting':
    case 'waiting':
      return <WalletView {...props} state={state} />;
    case 'sending':
      return <SendingView {...props} state={state} />;
    case 'seen':
      return <SeenView {...props} state={state} />;
    case 'confirmed':
      return <Confirmed {...props} state={state} />;
    case 'failed':
    case 'expired':
      return <Ended {...props} state={state} />;
    case 'closing':
      return <Closing {...props} state={state} />;
    case 'late':
      return <Late {...props} state={state} />;
    case 'short':
      return <Short {...props} state={state} />;
    case 'identity':
      return <IdentityView {...props} state={state} />;
    case 'underway':
      return <UnderwayView {...props} state={state} />;
  }
}

function ChoiceView(props: PanelProps<PageAt<'choosing'>>) {
  const { facts, state, say } = props;
  const { payment } = state;
  return (
    <>
      <StepTitle {...props} />
      <ProblemNote problem={state.problem} say={say} />
      <UnclearNote {...props} />
      {state.customer !== null && (
        <p class="recognised">
          {say('recognised', { customer: '' })}
          <bdi>{state.customer}</bdi>
        </p>
      )}
      {payment?.quote && state.busyWith === null && <Due {...props} payment={payment} />}
      <Assets {...props} />
      <Payee {...props} />
      {payment && state.secondsLeft !== null && <Bar left={state.secondsLeft} total={totalOf(facts, payment)} />}
      {payment?.fee && <p class="quiet">{say('feeIncluded', { fee: formatMoney(facts.locale, payment.fee) })}</p>}
      {payment === null && facts.handoffToken === null && props.actions && (
        <ReceiptEmail value={props.actions.receiptEmail()} store={props.actions.storeEmail} say={say} />
      )}
      <Wallets {...props} />
      <ByPhone {...props} />
    </>
  );
}

/** Explains why every way to pay is closed, and until when (rounded up to a minute). */
function UnclearNote({ facts, state, say }: PanelProps<PageAt<'choosing'>>) {
  if (!state.isUnclear || !state.payment?.unclearUntil) return null;
  const until = new Date(Math.ceil(state.payment.unclearUntil / 60_000) * 60_000).toISOString();
  return <p class="quiet doubt">{say('unclearUntil', { time: formatTime(facts.locale, until) })}</p>;
}

const UnavailableView = (props: PanelProps) => (
  <div class="notice">
    <StepTitle {...props} />
    <StepHelp {...props} />
  </div>
);

/** Repeats payee, network and end time next to the buttons, because the full details may be far down the page. */
function Payee({ facts, state, say }: PanelProps<PageAt<'choosing'>>) {
  const wallet = state.payment?.recipient ?? facts.payees[state.asset];
  return (
    <dl class="payee">
      {wallet && (
        <Row name={say('legSeller')}>
          <ShortAddress address={wallet} />
        </Row>
      )}
      <Row name={say('network')}>{say(facts.network)}</Row>
      {state.payment && state.secondsLeft !== null && (
        <Row name={say('timeLeft')}>
          <Timer secondsLeft={state.secondsLeft} />
        </Row>
      )}
    </dl>
  );
}

function WalletView(props: PanelProps<PageAt<'connecting' | 'waiting'>>) {
  const { facts, state, say, actions } = props;
  const { payment, secondsLeft } = state;
  return (
    <>
      <Spinner />
      <StepTitle {...props} />
      <StepHelp {...props} />
      <Due facts={facts} say={say} payment={payment} />
      {payment && <Legs {...props} payment={payment} />}
      {payment && secondsLeft !== null && (
        <p class="time-left">
          <span>{say('timeLeft')}</span>
          <Timer secondsLeft={secondsLeft} />
          <Bar left={secondsLeft} total={totalOf(facts, payment)} />
        </p>
      )}
      <button type="button" class="plain-button" onClick={() => actions?.cancel()}>
        {say('otherWay')}
      </button>
    </>
  );
}

function Legs({ facts, say, payment: { price, fee, recipient } }: PanelProps & { payment: PagePayment }) {
  return (
    <dl class="legs">
      <Row name={say('legSeller')}>
        {fee && <strong>{formatMoney(facts.locale, without(price, fee))}</strong>}
        <Address address={recipient} />
      </Row>
      {fee && (
        <Row name={say('legFee')}>
          <strong>{formatMoney(facts.locale, fee)}</strong>
          {fee.recipient && <Address address={fee.recipient} />}
        </Row>
      )}
    </dl>
  );
}

const SendingView = (props: PanelProps) => (
  <>
    <Spinner />
    <StepTitle {...props} />
  </>
);

const SeenView = (props: PanelProps<PageAt<'seen'>>) => (
  <>
    <Spinner />
    <StepTitle {...props} />
    <StepHelp {...props} />
    <TwiceNote {...props} />
    <Signature say={props.say} signature={payingSignatureOf(props.state)} />
  </>
);

function IdentityView(props: PanelProps<PageAt<'identity'>>) {
  const { facts, state, say, actions } = props;
  const { provider, deepLink } = state.identity;
  const isAsking = state.isBusy && !state.isQuiet;
  return (
    <>
      <StepTitle {...props} />
      <ProblemNote problem={state.problem} say={say} />
      <StepHelp {...props} />
      {/^https?:/.test(deepLink) && (
        <a class="button" href={deepLink} target="_blank" rel="noopener noreferrer">
          {say('identityOpen', { provider })}
        </a>
      )}
      {!facts.isPhone && /^https?:/.test(deepLink) && (
        <Code text={deepLink} label={say('identityQr', { provider })} drawCode={props.drawCode} />
      )}
      <p class="quiet">{say('identityWaits')}</p>
      <button type="button" class="plain-button" disabled={isAsking} onClick={() => actions?.finishIdentity()}>
        {say('identityDone')}
      </button>
      <button type="button" class="link-button" disabled={isAsking} onClick={() => actions?.cancel()}>
        {say('back')}
      </button>
    </>
  );
}

/** The default button never pays a payment that someone else began. */
function UnderwayView(props: PanelProps<PageAt<'underway'>>) {
  const { state, say, actions } = props;
  const { isOurs } = state.found;
  const toContinue = (
    <button type="button" class={isOurs ? 'button' : 'plain-button'} onClick={() => actions?.continueFound()}>
      {say('underwayTake')}
    </button>
  );
  const toDecline = (
    <button type="button" class={isOurs ? 'plain-button' : 'button'} onClick={() => actions?.declineFound()}>
      {say(isOurs ? 'underwayLeave' : 'underwayOwn')}
    </button>
  );
  return (
    <>
      <StepTitle {...props} />
      <StepHelp {...props} />
      {!isOurs && <p>{say('underwayForeign')}</p>}
      {isOurs ? toContinue : toDecline}
      {isOurs ? toDecline : toContinue}
    </>
  );
}
