import { Mark, Row, ShortAddress, Signature, Spinner, Title } from '../parts/parts.tsx';
import { formatMoney, formatTime } from '../parts/text.ts';
import { type PanelProps, ProblemNote, TwiceNote } from './notes.tsx';

/** How it ended, and what to do now. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

const signatureOf = ({ state }: PanelProps): string | null => state.payment?.tx_signature ?? state.session?.txSignature ?? null;

export function Confirmed(props: PanelProps) {
  const { facts, state, say, actions } = props;
  const { payment, redirectUrl } = state;
  const price = formatMoney(facts.locale, payment?.price ?? facts.price);
  return (
    <>
      <Mark kind="done" />
      <Title>{say('confirmed')}</Title>
      <p>{say('confirmedHelp', { price })}</p>
      <TwiceNote {...props} />
      <Paid {...props} />
      {payment?.overpaid && <p class="quiet">{say('overpaid', { amount: formatMoney(facts.locale, payment.overpaid) })}</p>}
      {redirectUrl && (
        <a class="button" href={redirectUrl} rel="noreferrer">
          {facts.buttonLabel ?? say('continueTo', { host: hostOf(redirectUrl) })}
        </a>
      )}
      {redirectUrl && state.isLeaving && (
        <p class="quiet leaving">
          {say('goingTo', { host: hostOf(redirectUrl) })}{' '}
          <button type="button" class="link-button" onClick={() => actions?.stay()}>
            {say('stay')}
          </button>
        </p>
      )}
      {redirectUrl && facts.buttonLabel && !state.isLeaving && <p class="quiet">{hostOf(redirectUrl)}</p>}
      {payment?.receipt_id && (
        <a class={redirectUrl ? 'plain-button' : 'button'} href={`/r/${payment.receipt_id}?locale=${facts.locale}`}>
          {say('receipt')}
        </a>
      )}
      {!state.isLeaving && facts.isPayable && !facts.paymentSessionId && !facts.handoffToken && (
        <button type="button" class="link-button" onClick={() => actions?.startAgain()}>
          {say('buyAgain')}
        </button>
      )}
      <Signature say={say} signature={signatureOf(props)} />
    </>
  );
}

/** A name is whatever its owner made of it; it never stands without the wallet that was paid. */
function Paid({ facts, state, say }: PanelProps) {
  const { session } = state;
  if (!session) return null;
  return (
    <dl class="payee">
      <Row name={say('seller')}>
        <bdi>{say('quoted', { name: facts.sellerName })}</bdi>
      </Row>
      <Row name={say('wallet')}>
        <ShortAddress address={session.recipient} />
      </Row>
      {session.fee && <Row name={say('legFee')}>{formatMoney(facts.locale, session.fee)}</Row>}
    </dl>
  );
}

/** A hand-off serves for one payment: another begins in the shop. */
const Again = ({ facts, state, say, actions }: PanelProps) =>
  facts.handoffToken ? (
    <p>{say('backToShop')}</p>
  ) : facts.isPayable ? (
    <button type="button" class="button" disabled={state.isBusy} onClick={() => actions?.startAgain()}>
      {say('startAgain')}
    </button>
  ) : null;

export function Failed(props: PanelProps) {
  const { state, say } = props;
  return (
    <>
      <Mark kind="failed" />
      <Title>{say('failed')}</Title>
      <p>{say(state.payment?.failure_code === 'underpaid' ? 'failedShort' : 'failedChain')}</p>
      <ProblemNote {...props} />
      <Again {...props} />
      <Signature say={say} signature={signatureOf(props)} />
    </>
  );
}

export function Expired(props: PanelProps) {
  const { say } = props;
  return (
    <>
      <Mark kind="time" />
      <Title>{say('expired')}</Title>
      <p>{say(signatureOf(props) ? 'expiredSent' : 'expiredHelp')}</p>
      <ProblemNote {...props} />
      <Again {...props} />
      <Signature say={say} signature={signatureOf(props)} />
    </>
  );
}

const MINUTE_MS = 60_000;
const nextMinute = (at: number): string => new Date(Math.ceil(at / MINUTE_MS) * MINUTE_MS).toISOString();

export function Closing({ facts, state, say }: PanelProps) {
  const expiresAt = state.payment?.expires_at ?? state.session?.expiresAt ?? '';
  const certainAt = Date.parse(expiresAt) + facts.uncertainMs;
  return (
    <>
      <Spinner />
      <Title>{say('closing')}</Title>
      <p>{say(state.session?.quote ? 'closingQuote' : 'closingHelp')}</p>
      {!Number.isNaN(certainAt) && <p class="quiet">{say('closingUntil', { time: formatTime(facts.locale, nextMinute(certainAt)) })}</p>}
    </>
  );
}

export function Late(props: PanelProps) {
  const { say } = props;
  return (
    <>
      <Mark kind="failed" />
      <Title>{say('late')}</Title>
      <p>{say('lateHelp')}</p>
      <Signature say={say} signature={signatureOf(props)} />
    </>
  );
}
