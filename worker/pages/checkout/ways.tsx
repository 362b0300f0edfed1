import { Code, InWallet, Newcomer } from '../parts/elsewhere.tsx';
import { Address } from '../parts/parts.tsx';
import { formatEstimate, formatMoney } from '../parts/text.ts';
import { isTest } from '../parts/wallet-choice.ts';
import type { PanelProps } from './notes.tsx';
import { isReplaceable, type PageAt } from './state.ts';

const networkName = ({ facts }: PanelProps): string => (facts.network === 'mainnet' ? 'Solana' : 'Solana devnet');

/** Changing the asset replaces the payment while it is unsigned. */
export function Assets({ facts, state, say, actions }: PanelProps<PageAt<'choosing'>>) {
  const { payment } = state;
  if (facts.assets.length < 2) return null;
  const isBusy = state.busyWith === 'beginning payment';
  const chosen = isBusy || !payment ? state.asset : payment.price.asset;
  const isFixed = state.isUnclear || state.busyWith !== null || (payment !== null && !isReplaceable(state));
  const estimate = facts.estimates[chosen];
  return (
    <div class="asset-choice">
      <fieldset class="assets" disabled={isFixed}>
        <legend>{say('payIn')}</legend>
        {facts.assets.map((asset) => (
          <label key={asset}>
            <input type="radio" name="asset" value={asset} checked={asset === chosen} onChange={() => actions?.chooseAsset(asset)} />
            <span>{asset}</span>
          </label>
        ))}
      </fieldset>
      {!payment && estimate && (
        <p class="quote">
          <strong>{formatEstimate(facts.locale, estimate)}</strong>
          <span>{say('estimateHelp')}</span>
        </p>
      )}
      {!payment && !estimate && chosen !== facts.price.asset && <p class="quiet">{say('quoteToCome', { asset: chosen })}</p>}
    </div>
  );
}

function amountOf({ facts, state }: PanelProps<PageAt<'choosing'>>): string | null {
  if (state.payment) return formatMoney(facts.locale, state.payment.price);
  const estimate = facts.estimates[state.asset];
  if (state.asset === facts.price.asset) return formatMoney(facts.locale, facts.price);
  return estimate ? formatEstimate(facts.locale, estimate) : null;
}

/** Wallets of this browser. Null before detection, and permanently without JavaScript. */
export function Wallets(props: PanelProps<PageAt<'choosing'>>) {
  const { facts, state, say, actions } = props;
  const usable = state.wallets?.filter(({ isUsable }) => isUsable).length ?? 0;
  return (
    <section class="way" aria-label={say('onThisDevice')}>
      {state.wallets?.length !== 0 && <h3>{say('onThisDevice')}</h3>}
      {state.wallets === null && <p class="quiet needs-script">{say('lookingForWallets')}</p>}
      {state.wallets?.length === 0 && (
        <div class="no-wallet">
          <p>{say('noWallet')}</p>
          <p class="quiet">{say(facts.isPhone ? 'noWalletPhone' : 'noWalletDesktop')}</p>
          <Newcomer {...facts} price={state.payment?.price ?? facts.estimates[state.asset] ?? facts.price} say={say} />
        </div>
      )}
      {facts.isPhone && state.wallets?.length === 0 && !state.isUnclear && <InWalletLinks {...props} />}
      {state.wallets !== null && state.wallets.length > 0 && (
        <ul class="wallets">
          {state.wallets.map((wallet) => (
            <li key={wallet.name}>
              {/* A wallet of the wrong network stays enabled and explains on press why it cannot pay. */}
              <button
                type="button"
                class={`wallet${wallet.isOwn ? ' wallet-own' : ''}${usable === 1 && wallet.isUsable ? ' wallet-only' : ''}`}
                disabled={state.busyWith !== null || state.isUnclear}
                aria-disabled={wallet.isUsable ? undefined : 'true'}
                onClick={() => actions?.payWith(wallet.name)}
              >
                {wallet.icon && <img src={wallet.icon} alt="" width="28" height="28" />}
                <span class="wallet-name">{say('payWith', { wallet: wallet.name })}</span>
                {wallet.isUsable ? (
                  <span class="go">{amountOf(props) ?? <span aria-hidden="true">→</span>}</span>
                ) : (
                  <span class="tag">{say('wrongNetworkTag', { network: networkName(props) })}</span>
                )}
              </button>
              {wallet.isOwn && <p class="own-note">{say(isTest(facts) ? 'testWallet' : 'demoWallet')}</p>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Payment with another wallet: QR code on a desktop, link on a phone, manual transfer if one transfer pays. */
export function ByPhone(props: PanelProps<PageAt<'choosing'>>) {
  const { facts, state, say, actions } = props;
  // No other wallet has the chain of a test payment.
  if (isTest(facts)) return null;
  const title = say(facts.isPhone ? 'appTitle' : 'scanTitle');
  const hasWallet = state.wallets?.some(({ isUsable }) => isUsable) ?? true;
  const isOpen = state.isPhoneOpen && !state.isUnclear;
  const isSecond = hasWallet || (facts.isPhone && !isOpen);
  return (
    <section class="way" aria-label={title}>
      <h3>{title}</h3>
      {!isOpen && (
        <button
          type="button"
          class={isSecond ? 'plain-button' : 'button'}
          disabled={state.busyWith !== null || state.isUnclear || state.wallets === null}
          onClick={() => actions?.openPhone()}
        >
          {say(facts.isPhone ? 'appButton' : 'scanButton')}
        </button>
      )}
      {isOpen && state.payment && (
        <>
          {facts.isPhone ? (
            <a class={isSecond ? 'plain-button' : 'button'} href={state.payment.solanaPayUrl}>
              {say('openWallet')}
            </a>
          ) : (
            <>
              <Code text={state.payment.solanaPayUrl} label={say('qrLabel')} drawCode={props.drawCode} />
              <p class="due centred">
                <strong>{formatMoney(facts.locale, state.payment.price)}</strong>
              </p>
              <p class="quiet centred">{say('scanHelp')}</p>
            </>
          )}
          <ByHand {...props} />
        </>
      )}
    </section>
  );
}

function InWalletLinks({ facts, state, say }: PanelProps<PageAt<'choosing'>>) {
  // The link passes servers of the wallet's maker, so it never carries a hand-off. Once the payment exists, only its id is needed.
  if (!facts.pageUrl || (facts.handoffToken && !state.payment)) return null;
  const url = new URL(facts.pageUrl);
  url.searchParams.delete('handoff');
  // Carries the payment, so that the wallet's browser begins no second one.
  if (state.payment) url.hash = `payment=${state.payment.paymentId}`;
  return <InWallet href={url.href} locale={facts.locale} say={say} />;
}

/** A payment with a fee needs two transfers in one transaction, which cannot be made by hand. */
function ByHand(props: PanelProps<PageAt<'choosing'>>) {
  const { facts, state, say } = props;
  const { payment } = state;
  if (!payment || payment.fee) return null;
  return (
    <details class="by-hand">
      <summary>{say('byHand')}</summary>
      <p class="quiet">{say('byHandHelp')}</p>
      <dl class="copies">
        <Copyable {...props} name={say('amount')} shown={formatMoney(facts.locale, payment.price)} value={payment.price.amount} />
        <Copyable {...props} name={say('address')} shown={<Address address={payment.recipient} />} value={payment.recipient} />
        <Copyable {...props} name={say('memo')} shown={payment.memo} value={payment.memo} />
      </dl>
      {state.copied?.isSelected && <p class="quiet">{say('copyByHand')}</p>}
      <SignatureForm {...props} />
    </details>
  );
}

function Copyable({
  say,
  state,
  actions,
  name,
  shown,
  value,
}: PanelProps<PageAt<'choosing'>> & { name: string; shown: unknown; value: string }) {
  const isDone = state.copied?.what === name;
  const label = say(!isDone ? 'copy' : state.copied?.isSelected ? 'selected' : 'copied');
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class="value">{shown}</span>
        <button
          type="button"
          class="copy"
          aria-label={isDone ? `${label}: ${name}` : say('copyOf', { what: name })}
          onClick={(event: Event) => actions?.copy(name, value, event)}
        >
          {label}
        </button>
      </dd>
    </div>
  );
}

function SignatureForm({ say, state, actions }: PanelProps<PageAt<'choosing'>>) {
  return (
    <form class="signature-form" onSubmit={actions?.submitSignature}>
      <label for="signature">{say('haveSignature')}</label>
      <div>
        <input id="signature" name="signature" autocomplete="off" autocapitalize="off" spellcheck={false} required />
        <button type="submit" disabled={state.busyWith !== null}>
          {say('check')}
        </button>
      </div>
    </form>
  );
}
