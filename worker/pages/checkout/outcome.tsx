/**
 * How it ended, and what to do now.
 * @module
 */

import { Mark, Row, ShortAddress, Signature, Spinner } from '../parts/parts.tsx';
import { formatMoney, formatTime } from '../parts/text.ts';
import { type PanelProps, StepHelp, StepTitle, TwiceNote } from './notes.tsx';
import { type PageAt, payingSignatureOf } from './state.ts';

const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

export function Confirmed(props: PanelProps<PageAt<'confirmed'>>) {
  const { facts, state, say, actions } = props;
  const { status, redirectUrl, isLeaving } = state;
  return (
    <>
      <Mark kind="done" />
      <StepTitle {...props} />
      <StepHelp {...props} />
      <TwiceNote {...props} />
      <Paid {...props} />
      {status.overpaid && <p class="quiet">{say('overpaid', { amount: formatMoney(facts.locale, status.overpaid) })}</p>}
      {redirectUrl && (
        <a class="button" href={redirectUrl} rel="noreferrer">
          {facts.buttonLabel ?? say('continueTo', { host: hostOf(redirectUrl) })}
        </a>
      )}
      {redirectUrl && isLeaving && (
        <p class="quiet leaving">
          {say('goingTo', { host: hostOf(redirectUrl) })}{' '}
          <button type="button" class="link-button" onClick={() => actions?.stay()}>
            {say('stay')}
          </button>
        </p>
      )}
      {redirectUrl && facts.buttonLabel && !isLeaving && <p class="quiet">{hostOf(redirectUrl)}</p>}
      {status.receipt_id && (
        <a class={redirectUrl ? 'plain-button' : 'button'} href={`/r/${status.receipt_id}?locale=${facts.locale}`}>
          {say('receipt')}
        </a>
      )}
      {!isLeaving && facts.isPayable && !facts.paymentSessionId && !facts.handoffToken && (
        <button type="button" class="link-button" onClick={() => actions?.startAgain()}>
          {say('buyAgain')}
        </button>
      )}
      <Signature say={say} signature={payingSignatureOf(state)} />
    </>
  );
}

/** A name is whatever its owner made of it; it never stands without the wallet that was paid. */
function Paid({ facts, state, say }: PanelProps<PageAt<'confirmed'>>) {
  const { recipient, fee } = state.payment;
  return (
    <dl class="payee">
      <Row name={say('seller')}>
        <bdi>{say('quoted', { name: facts.sellerName })}</bdi>
      </Row>
      <Row name={say('wallet')}>
        <ShortAddress address={recipient} />
      </Row>
      {fee && <Row name={say('legFee')}>{formatMoney(facts.locale, fee)}</Row>}
    </dl>
  );
}

/** A hand-off serves for one payment: another begins in the shop. */
const Again = ({ facts, say, actions }: PanelProps) =>
  facts.handoffToken ? (
    <p>{say('backToShop')}</p>
  ) : facts.isPayable ? (
    <button type="button" class="button" onClick={() => actions?.startAgain()}>
      {say('startAgain')}
    </button>
  ) : null;

export function Ended(props: PanelProps<PageAt<'failed' | 'expired'>>) {
  const { state, say } = props;
  return (
    <>
      <Mark kind={state.step === 'expired' ? 'time' : 'failed'} />
      <StepTitle {...props} />
      <StepHelp {...props} />
      <Again {...props} />
      <Signature say={say} signature={payingSignatureOf(state)} />
    </>
  );
}

const MINUTE_MS = 60_000;
const nextMinute = (at: number): string => new Date(Math.ceil(at / MINUTE_MS) * MINUTE_MS).toISOString();

export function Closing(props: PanelProps<PageAt<'closing'>>) {
  const { facts, state, say } = props;
  const certainAt = Date.parse(state.status?.expires_at ?? state.payment.expiresAt) + facts.uncertainMs;
  return (
    <>
      <Spinner />
      <StepTitle {...props} />
      <StepHelp {...props} />
      {!Number.isNaN(certainAt) && <p class="quiet">{say('closingUntil', { time: formatTime(facts.locale, nextMinute(certainAt)) })}</p>}
    </>
  );
}

export const Late = (props: PanelProps<PageAt<'late'>>) => (
  <>
    <Mark kind="failed" />
    <StepTitle {...props} />
    <StepHelp {...props} />
    <Signature say={props.say} signature={payingSignatureOf(props.state)} />
  </>
);
