import type { TextKey } from '../locales/en.ts';
import { Closing, Confirmed, Expired, Failed, Late } from './outcome.tsx';
import { type PanelProps, ProblemNote, Signature, Spinner, Title } from './parts.tsx';
import { formatMoney, formatTime, type Say } from './text.ts';
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
  const deadEnd = DEAD_ENDS.find((key) => key === state.problem?.key) ?? facts.obstacle;
  if (deadEnd !== null && !state.session) return <Obstacle say={say} reason={deadEnd} />;
  return (
    <>
      <Title>{say('choose')}</Title>
      <ProblemNote {...props} />
      {state.customer !== null && (
        <p class="recognised">
          {say('recognised', { customer: '' })}
          <bdi>{state.customer}</bdi>
        </p>
      )}
      <TimeLeft {...props} />
      <Assets {...props} />
      <Quote {...props} />
      {state.session?.fee && <p class="quiet">{say('feeIncluded', { fee: formatMoney(facts.locale, state.session.fee) })}</p>}
      <Wallets {...props} />
      <ByPhone {...props} />
    </>
  );
}

const Obstacle = ({ say, reason }: { say: Say; reason: TextKey }) => (
  <div class="notice">
    <Title>{say('unavailable')}</Title>
    <p>{say(reason)}</p>
  </div>
);

function Assets({ facts, state, say, actions }: PanelProps) {
  if (facts.assets.length < 2 || state.session) return null;
  return (
    <fieldset class="assets">
      <legend>{say('payIn')}</legend>
      {facts.assets.map((asset) => (
        <label key={asset}>
          <input type="radio" name="asset" value={asset} checked={asset === state.asset} onChange={() => actions?.chooseAsset(asset)} />
          <span>{asset}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Quote({ facts, state, say }: PanelProps) {
  const quote = state.session?.quote;
  if (!quote || !state.session) return null;
  const rate = formatMoney(facts.locale, { asset: 'USDC', amount: quote.rate });
  return (
    <p class="quote">
      <strong>{formatMoney(facts.locale, state.session.price)}</strong>
      <span>{say('quote', { asset: 'SOL', rate, time: formatTime(facts.locale, quote.expiresAt) })}</span>
    </p>
  );
}

/** The digits change every second and are not read aloud; the status line speaks at five minutes and at one. */
export function TimeLeft({ state, say }: PanelProps) {
  if (state.secondsLeft === null || !state.session) return null;
  const minutes = Math.floor(state.secondsLeft / 60);
  const seconds = String(state.secondsLeft % 60).padStart(2, '0');
  return (
    <p class={state.secondsLeft <= 60 ? 'time-left time-short' : 'time-left'}>
      <span>{say('timeLeft')}</span>
      <span role="timer" aria-live="off">{`${minutes}:${seconds}`}</span>
    </p>
  );
}

function Waiting({
  facts,
  state,
  say,
  actions,
  title,
  help,
}: PanelProps & { title: 'connecting' | 'waiting'; help: 'connectingHelp' | 'waitingHelp' }) {
  const price = formatMoney(facts.locale, state.session?.price ?? facts.price);
  return (
    <>
      <Spinner />
      <Title>{say(title, { wallet: state.walletName ?? '' })}</Title>
      <p>{say(help, { price })}</p>
      {state.step === 'waiting' && state.session && <code>{state.session.recipient}</code>}
      <TimeLeft facts={facts} state={state} say={say} />
      <button type="button" class="plain-button" onClick={() => actions?.cancel()}>
        {say('otherWay')}
      </button>
    </>
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

function Underway({ facts, state, say, actions }: PanelProps) {
  return (
    <>
      <Title>{say('underway')}</Title>
      <p>{say('underwayHelp', { price: formatMoney(facts.locale, state.offered?.price ?? facts.price) })}</p>
      <button type="button" class="button" onClick={() => actions?.takeOffered()}>
        {say('underwayTake')}
      </button>
      <button type="button" class="plain-button" onClick={() => actions?.leaveOffered()}>
        {say('underwayLeave')}
      </button>
    </>
  );
}
