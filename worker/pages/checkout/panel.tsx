import type { TextKey } from '../locales/en.ts';
import { Address, Row, ShortAddress, Signature, Spinner, Title } from '../parts/parts.tsx';
import { formatMoney, formatTime, type Say, without } from '../parts/text.ts';
import { Due, type PanelProps, ProblemNote, TwiceNote } from './notes.tsx';
import { Closing, Confirmed, Expired, Failed, Late } from './outcome.tsx';
import { ByPhone, Wallets } from './ways.tsx';

export const Panel = (props: PanelProps) => (
  <div class={`panel step-${props.state.step}`}>
    <Step {...props} />
  </div>
);

function Step(props: PanelProps) {
  switch (props.state.step) {
    case 'choosing':
      return <Choosing {...props} />;
    case 'connecting':
      return <Waiting {...props} title="connecting" help="connectingHelp" />;
    case 'waiting':
      return <Waiting {...props} title="waiting" help="waitingHelp" />;
    case 'sending':
      return <Working title={props.say('sending')} />;
    case 'seen':
      return <Seen {...props} />;
    case 'confirmed':
      return <Confirmed {...props} />;
    case 'failed':
      return <Failed {...props} />;
    case 'expired':
      return <Expired {...props} />;
    case 'closing':
      return <Closing {...props} />;
    case 'late':
      return <Late {...props} />;
    case 'identity':
      return <Identity {...props} />;
    case 'underway':
      return <Underway {...props} />;
  }
}

/** A link that is over: nothing can be begun with it, so nothing is offered. */
const DEAD_ENDS: TextKey[] = ['pHandoffBad', 'pHandoffUsed', 'sessionOver'];

function Choosing(props: PanelProps) {
  const { facts, state, say } = props;
  // Begun without what the seller asks by now: paid, it would buy nothing.
  if (state.problem?.key === 'pIdentityNow') return <Obstacle say={say} reason="pIdentityNow" />;
  const deadEnd = DEAD_ENDS.find((key) => key === state.problem?.key) ?? facts.obstacle;
  if (deadEnd !== null && !state.session) return <Obstacle say={say} reason={deadEnd} />;
  return (
    <>
      <Title>{say('choose')}</Title>
      <ProblemNote {...props} />
      <Doubt {...props} />
      {state.customer !== null && (
        <p class="recognised">
          {say('recognised', { customer: '' })}
          <bdi>{state.customer}</bdi>
        </p>
      )}
      {state.session?.quote && <Due {...props} />}
      <Assets {...props} />
      <Payee {...props} />
      {state.session?.fee && <p class="quiet">{say('feeIncluded', { fee: formatMoney(facts.locale, state.session.fee) })}</p>}
      <Wallets {...props} />
      <ByPhone {...props} />
    </>
  );
}

/** Why every way to pay is closed, and until when: to the next whole minute, because no seconds are shown. */
function Doubt({ facts, state, say }: PanelProps) {
  if (!state.isUnclear || !state.session?.unclearUntil) return null;
  const until = new Date(Math.ceil(state.session.unclearUntil / 60_000) * 60_000).toISOString();
  return <p class="quiet doubt">{say('unclearUntil', { time: formatTime(facts.locale, until) })}</p>;
}

const Obstacle = ({ say, reason }: { say: Say; reason: TextKey }) => (
  <div class="notice">
    <Title>{say('unavailable')}</Title>
    <p>{say(reason)}</p>
  </div>
);

/** A session keeps its asset to its end: a second payment never begins beside the first. */
function Assets({ facts, state, say, actions }: PanelProps) {
  if (facts.assets.length < 2) return null;
  if (state.session) return <p class="quiet">{say('payInLater', { time: formatTime(facts.locale, state.session.expiresAt) })}</p>;
  return (
    <div class="asset-choice">
      <fieldset class="assets">
        <legend>{say('payIn')}</legend>
        {facts.assets.map((asset) => (
          <label key={asset}>
            <input type="radio" name="asset" value={asset} checked={asset === state.asset} onChange={() => actions?.chooseAsset(asset)} />
            <span>{asset}</span>
          </label>
        ))}
      </fieldset>
      {state.asset !== facts.price.asset && <p class="quiet">{say('quoteToCome', { asset: state.asset })}</p>}
    </div>
  );
}

/** Beside the buttons, however far down the page the whole of it stands: which wallet is paid, on which network, until when. */
function Payee({ facts, state, say }: PanelProps) {
  const wallet = state.session?.recipient ?? facts.payees[state.asset];
  return (
    <dl class="payee">
      {wallet && (
        <Row name={say('legSeller')}>
          <ShortAddress address={wallet} />
        </Row>
      )}
      <Row name={say('network')}>{say(facts.network)}</Row>
      {state.session && state.secondsLeft !== null && (
        <Row name={say('timeLeft')}>
          <Timer secondsLeft={state.secondsLeft} />
        </Row>
      )}
    </dl>
  );
}

/** The digits change every second and are not read aloud; the status line speaks at five minutes and at one. */
const Timer = ({ secondsLeft }: { secondsLeft: number }) => (
  <span class={secondsLeft <= 60 ? 'timer time-short' : 'timer'} role="timer" aria-live="off">
    {`${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, '0')}`}
  </span>
);

function Waiting({
  facts,
  state,
  say,
  actions,
  title,
  help,
}: PanelProps & { title: 'connecting' | 'waiting'; help: 'connectingHelp' | 'waitingHelp' }) {
  return (
    <>
      <Spinner />
      <Title>{say(title, { wallet: state.walletName ?? '' })}</Title>
      <p>{say(help)}</p>
      <Due facts={facts} state={state} say={say} />
      <Legs facts={facts} state={state} say={say} />
      {state.session && state.secondsLeft !== null && (
        <p class="time-left">
          <span>{say('timeLeft')}</span>
          <Timer secondsLeft={state.secondsLeft} />
        </p>
      )}
      <button type="button" class="plain-button" onClick={() => actions?.cancel()}>
        {say('otherWay')}
      </button>
    </>
  );
}

/** What the wallet is about to show: how much goes to whom. */
function Legs({ facts, state, say }: PanelProps) {
  const { session } = state;
  if (!session) return null;
  const { price, fee, recipient } = session;
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

const Working = ({ title }: { title: string }) => (
  <>
    <Spinner />
    <Title>{title}</Title>
  </>
);

function Seen({ state, say }: PanelProps) {
  return (
    <>
      <Spinner />
      <Title>{say('seen')}</Title>
      <p>{say(state.isSlow ? 'seenLong' : 'seenHelp')}</p>
      <TwiceNote state={state} say={say} />
      <Signature say={say} signature={state.payment?.tx_signature ?? state.session?.txSignature ?? null} />
    </>
  );
}

function Identity(props: PanelProps) {
  const { state, say, actions } = props;
  const provider = state.identity?.provider ?? '';
  return (
    <>
      <Title>{say('identity')}</Title>
      <ProblemNote {...props} />
      <p>{say('identityHelp', { provider })}</p>
      {state.identity && /^https:/.test(state.identity.deepLink) && (
        <a class="button" href={state.identity.deepLink} target="_blank" rel="noopener noreferrer">
          {say('identityOpen', { provider })}
        </a>
      )}
      <button type="button" class="plain-button" disabled={state.isBusy} onClick={() => actions?.finishIdentity()}>
        {say('identityDone')}
      </button>
      <button type="button" class="link-button" disabled={state.isBusy} onClick={() => actions?.cancel()}>
        {say('back')}
      </button>
    </>
  );
}

/** The obvious button never pays what a stranger began. */
function Underway({ facts, state, say, actions }: PanelProps) {
  const isOurs = state.offered?.isOurs === true;
  const take = (
    <button type="button" class={isOurs ? 'button' : 'plain-button'} onClick={() => actions?.takeOffered()}>
      {say('underwayTake')}
    </button>
  );
  const leave = (
    <button type="button" class={isOurs ? 'plain-button' : 'button'} onClick={() => actions?.leaveOffered()}>
      {say(isOurs ? 'underwayLeave' : 'underwayOwn')}
    </button>
  );
  return (
    <>
      <Title>{say('underway')}</Title>
      <p>{say('underwayHelp', { price: formatMoney(facts.locale, state.offered?.session.price ?? facts.price) })}</p>
      {!isOurs && <p>{say('underwayForeign')}</p>}
      {isOurs ? take : leave}
      {isOurs ? leave : take}
    </>
  );
}
