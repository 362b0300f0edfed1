import { Mark, Row, ShortAddress, Signature, Spinner } from '../parts/parts.tsx';
import { explorerUrl, formatDay, formatMoney, formatTime } from '../parts/text.ts';
import { isTest } from '../parts/wallet-choice.ts';
import { Bar, type PanelProps, ProblemNote, StepHelp, StepTitle, TwiceNote } from './notes.tsx';
import { isReplaceable, type PageAt, payingSignatureOf } from './state.ts';
import { stepTextsOf } from './words.ts';

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
      <Gains {...props} />
      <Paid {...props} />
      <Entry {...props} />
      {status.overpaid && <p class="quiet">{say('overpaid', { amount: formatMoney(facts.locale, status.overpaid) })}</p>}
      {status.refunded?.map(({ amount }) => (
        <p>{say('refunded', { amount: formatMoney(facts.locale, amount) })}</p>
      ))}
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
      {status.receipt_id && <CopyReceipt {...props} receiptId={status.receipt_id} />}
      <p class="quiet">{say(status.receipt_id ? 'nextSteps' : 'nextStepsBare')}</p>
      <a class="way-back" href={`/me?locale=${facts.locale}`}>
        {say('purchases')}
      </a>
      {facts.supportUrl && (
        <a class="way-back" href={facts.supportUrl} target="_blank" rel="noopener noreferrer nofollow">
          {say('support')} ({hostOf(facts.supportUrl)})
        </a>
      )}
      <PaidSignature {...props} />
      {!isLeaving && facts.isPayable && !facts.paymentSessionId && !facts.handoffToken && (
        <details class="again">
          <summary>{say('buyAgainAsk')}</summary>
          <p class="quiet">{say('buyAgainHelp')}</p>
          <button type="button" class="plain-button" onClick={() => actions?.startAgain()}>
            {say('buyAgain')}
          </button>
        </details>
      )}
    </>
  );
}

function CopyReceipt({ facts, say, state, actions, receiptId }: PanelProps<PageAt<'confirmed'>> & { receiptId: string }) {
  const url = new URL(`/r/${receiptId}`, facts.pageUrl).href;
  return (
    <div class="copy-receipt">
      <span class="hidden">{url}</span>
      <button type="button" class="link-button" onClick={(event: Event) => actions?.copy('receipt', url, event)}>
        {say(state.copied === null ? 'copyReceipt' : state.copied.isSelected ? 'selected' : 'copied')}
      </button>
    </div>
  );
}

/** Links the transaction to an explorer, except for a test, which is on no public chain. */
function PaidSignature({ facts, say, state }: PanelProps<PageAt<'confirmed'>>) {
  const signature = payingSignatureOf(state);
  if (signature === null) return null;
  return (
    <details class="signature">
      <summary>{say('signature')}</summary>
      <code>{signature}</code>
      {!isTest(facts) && (
        <a href={explorerUrl(facts.network, signature)} target="_blank" rel="noopener noreferrer">
          {say('rExplore')}
        </a>
      )}
    </details>
  );
}

function Gains({ facts, state, say }: PanelProps<PageAt<'confirmed'>>) {
  const { access_until: until } = state.status;
  const present = until ? say('accessUntil', { date: formatDay(facts.locale, until) }) : null;
  return (
    <div>
      <h3>{say('youHave')}</h3>
      <ul class="gets">
        {facts.gains.map((line) => (
          <li key={line}>{line === facts.accessGain && present ? <strong>{present}</strong> : line}</li>
        ))}
      </ul>
    </div>
  );
}

const ENTRY_TEXTS = { pending: 'entryPending', delivered: 'entryGiven', failed: 'entryFailed' } as const;

/** Entry to the purchased access, or instructions if the platform did not let the service contact the buyer. */
function Entry({ state, say }: PanelProps<PageAt<'confirmed'>>) {
  const { delivery } = state.status;
  if (!state.payment.identitySessionId || delivery?.status === 'not_required' || delivery?.status === 'revoked') return null;
  const link = URL.parse(delivery?.invite_url ?? '');
  const isUsable = link?.protocol === 'https:';
  return (
    <div class="entry">
      <p>{say(isUsable && delivery?.status !== 'failed' ? 'entryInvited' : ENTRY_TEXTS[delivery?.status ?? 'pending'])}</p>
      {isUsable && (
        <a class="button" href={link.href} rel="noreferrer" target="_blank">
          {say('entryOpen', { host: link.host })}
        </a>
      )}
    </div>
  );
}

/** A seller's name is freely chosen, so it never appears without the paid wallet. */
function Paid({ facts, state, say }: PanelProps<PageAt<'confirmed'>>) {
  const { recipient, fee } = state.payment;
  return (
    <dl class="payee">
      <Row name={say('seller')}>
        <bdi>{say('quoted', { name: facts.sellerName })}</bdi>
      </Row>
      {facts.sellerDomain && <Row name={say('sellerDomain')}>{facts.sellerDomain}</Row>}
      <Row name={say('wallet')}>
        <ShortAddress address={recipient} />
      </Row>
      {fee && <Row name={say('legFee')}>{formatMoney(facts.locale, fee)}</Row>}
    </dl>
  );
}

/** A hand-off is for one payment. Another begins in the shop. */
const Again = ({ facts, say, actions, isSecond = false }: PanelProps & { isSecond?: boolean }) =>
  facts.handoffToken ? (
    <p>{say('backToShop')}</p>
  ) : facts.isPayable ? (
    <button type="button" class={isSecond ? 'plain-button' : 'button'} onClick={() => actions?.startAgain()}>
      {say('startAgain')}
    </button>
  ) : null;

const Support = ({ facts, say }: PanelProps) =>
  facts.supportUrl && (
    <a class="plain-button" href={facts.supportUrl} target="_blank" rel="noopener noreferrer nofollow">
      {say('support')} ({hostOf(facts.supportUrl)})
    </a>
  );

export function Ended(props: PanelProps<PageAt<'failed' | 'expired'>>) {
  const { state, say } = props;
  const isShort = state.status.failure_code === 'underpaid';
  return (
    <>
      <Mark kind={state.step === 'expired' ? 'time' : 'failed'} />
      <StepTitle {...props} />
      <StepHelp {...props} />
      {isShort && <Support {...props} />}
      <Again {...props} isSecond={isShort} />
      <Signature say={say} signature={payingSignatureOf(state)} />
    </>
  );
}

/** Underpayment: shows what arrived and the seller's contact, without a button that could pay twice by mistake. */
export function Short(props: PanelProps<PageAt<'short'>>) {
  const { facts, state, say, actions } = props;
  const { values = {} } = stepTextsOf(state, facts);
  const signatures = state.money.map((one) => one.tx_signature).join(', ');
  const note = say('shortNote', { payment: state.payment.paymentId, ...values, signature: signatures });
  const label = state.copied === null ? 'shortCopy' : state.copied.isSelected ? 'selected' : 'copied';
  return (
    <>
      <Mark kind="warn" />
      <StepTitle {...props} />
      <StepHelp {...props} />
      <p>
        <strong>{say('shortStop')}</strong>
      </p>
      <div class="copy-receipt">
        <span class="hidden">{note}</span>
        <button type="button" class="button" onClick={(event: Event) => actions?.copy('short', note, event)}>
          {say(label)}
        </button>
      </div>
      {facts.supportUrl ? (
        <Support {...props} />
      ) : (
        <a class="plain-button" href={`mailto:?subject=${encodeURIComponent(facts.productName)}&body=${encodeURIComponent(note)}`}>
          {say('shortMail')}
        </a>
      )}
      {state.money.map((one) => (
        <Signature key={one.tx_signature} say={say} signature={one.tx_signature} />
      ))}
      {facts.isPayable && !(facts.handoffToken && state.status.status === 'FAILED') && (
        <details class="again">
          <summary>{say('shortAgainAsk')}</summary>
          <p class="quiet">{say('shortAgainHelp', values)}</p>
          <button type="button" class="plain-button" onClick={() => actions?.dismissShort()}>
            {say('startAgain')}
          </button>
        </details>
      )}
    </>
  );
}

const MINUTE_MS = 60_000;
const nextMinute = (at: number): string => new Date(Math.ceil(at / MINUTE_MS) * MINUTE_MS).toISOString();

export function Closing(props: PanelProps<PageAt<'closing'>>) {
  const { facts, state, say, actions } = props;
  const certainAt = Date.parse(state.status?.expires_at ?? state.payment.expiresAt) + facts.uncertainMs;
  return (
    <>
      <Spinner />
      <StepTitle {...props} />
      <StepHelp {...props} />
      {state.secondsToCertain !== null && <Bar left={state.secondsToCertain} total={Math.ceil(facts.uncertainMs / 1000)} />}
      {!Number.isNaN(certainAt) && <p class="quiet">{say('closingUntil', { time: formatTime(facts.locale, nextMinute(certainAt)) })}</p>}
      <ProblemNote problem={state.problem} say={say} />
      {facts.isPayable && isReplaceable(state) && (
        <>
          <button type="button" class="plain-button" disabled={state.isBusy} onClick={() => actions?.startOver()}>
            {say('startOver')}
          </button>
          <p class="quiet">{say('startAnewHelp')}</p>
        </>
      )}
    </>
  );
}

export const Late = (props: PanelProps<PageAt<'late'>>) => (
  <>
    <Mark kind="failed" />
    <StepTitle {...props} />
    <StepHelp {...props} />
    <Support {...props} />
    <Signature say={props.say} signature={payingSignatureOf(props.state)} />
  </>
);
