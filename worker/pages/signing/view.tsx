import { Address, Mark, Row, Spinner } from '../parts/parts.tsx';
import { explorerUrl, formatMoney, type Say } from '../parts/text.ts';
import type { TransactionStep } from '../parts/transaction.ts';
import type { WalletChoice } from '../parts/wallet-choice.ts';
import { feeOf, type Problem, type SigningFacts, type SigningState, type StateAt } from './machine.ts';
import { type AnyKey, stepTexts } from './words.ts';

export interface SigningActions {
  read(event: Event): void;
  choose(walletName: string): void;
  back(): void;
  readOther(): void;
  copy(text: string, event: Event): void;
}

interface SigningProps<State extends SigningState = SigningState> {
  facts: SigningFacts;
  state: State;
  say: Say<AnyKey>;
  actions?: SigningActions;
}

export const SigningPanel = ({ state, ...props }: SigningProps) => (
  <div class={`panel step-${state.step}`}>
    {state.step === 'pasting' ? (
      <Paste {...props} state={state} />
    ) : state.step === 'choosing' ? (
      <Choice {...props} state={state} />
    ) : state.step === 'done' ? (
      <Done {...props} state={state} />
    ) : (
      <Busy {...props} state={state} />
    )}
  </div>
);

const Title = ({ children }: { children?: unknown }) => (
  <h1 id="panel-title" tabindex={-1}>
    {children}
  </h1>
);

const ProblemNote = ({ problem, say }: { problem: Problem | null; say: Say<AnyKey> }) =>
  problem ? (
    <div class="problem">
      <strong>{say('problem')}</strong>
      <p>{say(problem.key, problem.values)}</p>
    </div>
  ) : null;

function Paste({ state, say, actions }: SigningProps<StateAt<'pasting'>>) {
  return (
    <>
      <Title>{say('gTitle')}</Title>
      <p>{say('gHelp')}</p>
      <ProblemNote problem={state.problem} say={say} />
      <form class="fields" method="post" onSubmit={(event: Event) => actions?.read(event)}>
        <div class="field">
          <label for="prepared">{say('gField')}</label>
          <textarea id="prepared" name="prepared" rows={6} required spellcheck={false} autocomplete="off" autocapitalize="none" />
        </div>
        <button type="submit" class="button" disabled={!actions}>
          {say('gRead')}
        </button>
      </form>
    </>
  );
}

/** False for the steps that only set the network's fee. */
const isAct = ({ kind }: TransactionStep): boolean => kind !== 'limit' && kind !== 'priority';

function Choice({ facts, state, say, actions }: SigningProps<StateAt<'choosing'>>) {
  const { request, wallets } = state;
  const describe = stepTexts(say, facts);
  return (
    <>
      <Title>{say('gDoes')}</Title>
      <ProblemNote problem={state.problem ?? request.obstacle} say={say} />
      <ol class="transaction-steps">
        {request.steps.filter(isAct).map((step, index) => (
          <li key={index} class={step.kind === 'unknown' ? 'problem' : ''}>
            {describe(step)}
          </li>
        ))}
      </ol>
      <dl class="facts">
        <Row name={say('gSigner')}>
          {request.signers.map((signer) => (
            <Address key={signer} address={signer} />
          ))}
        </Row>
        <Row name={say('network')}>{say(facts.network)}</Row>
        <Row name={say('gFee')}>{formatMoney(facts.locale, feeOf(request))}</Row>
      </dl>
      {request.obstacle === null && (
        <section class="way" aria-label={say('onThisDevice')}>
          <p class="quiet">{say('gOwn')}</p>
          {wallets === null && <p class="quiet">{say('lookingForWallets')}</p>}
          {wallets?.length === 0 && (
            <div>
              <p>{say('noWallet')}</p>
              <p class="quiet">{say('gNoWallet', { signer: request.unsigned[0] ?? '' })}</p>
            </div>
          )}
          {wallets !== null && wallets.length > 0 && <WalletList facts={facts} wallets={wallets} say={say} actions={actions} />}
        </section>
      )}
      <button type="button" class="plain-button" onClick={() => actions?.readOther()}>
        {say('gOther')}
      </button>
    </>
  );
}

interface WalletListProps extends Omit<SigningProps, 'state'> {
  wallets: WalletChoice[];
}

function WalletList({ facts, wallets, say, actions }: WalletListProps) {
  const usable = wallets.filter(({ isUsable }) => isUsable).length;
  return (
    <ul class="wallets">
      {wallets.map((wallet) => (
        <li key={wallet.name}>
          <button
            type="button"
            class={`wallet${wallet.isOwn ? ' wallet-own' : ''}${usable === 1 && wallet.isUsable ? ' wallet-only' : ''}`}
            aria-disabled={wallet.isUsable ? undefined : 'true'}
            onClick={() => wallet.isUsable && actions?.choose(wallet.name)}
          >
            {wallet.icon && <img src={wallet.icon} alt="" width="28" height="28" />}
            <span class="wallet-name">{say('gWith', { wallet: wallet.name })}</span>
            {!wallet.isUsable && <span class="tag">{say('wrongNetworkTag', { network: say(facts.network) })}</span>}
          </button>
          {wallet.isOwn && <p class="own-note">{say('demoWallet')}</p>}
        </li>
      ))}
    </ul>
  );
}

const BUSY_TEXTS = {
  opening: ['connecting', 'connectingHelp'],
  asking: ['gAsking', 'gAskingHelp'],
  sending: ['gSending', 'gSendingHelp'],
} as const satisfies Record<string, readonly [AnyKey, AnyKey]>;

function Busy({ state, say, actions }: SigningProps<StateAt<'opening' | 'asking' | 'sending'>>) {
  const [title, help] = BUSY_TEXTS[state.step];
  return (
    <>
      <Spinner />
      <Title>{say(title, { wallet: state.walletName })}</Title>
      <p>{say(help)}</p>
      {state.step !== 'sending' && (
        <button type="button" class="plain-button" onClick={() => actions?.back()}>
          {say('back')}
        </button>
      )}
    </>
  );
}

/** Path with the signature. (base58: nothing to encode) */
const signedPathOf = (next: string, txSignature: string): string => `${next}${next.includes('?') ? '&' : '?'}tx_signature=${txSignature}`;

function Done({ facts, state, say, actions }: SigningProps<StateAt<'done'>>) {
  const { txSignature, signed, copied, walletName } = state;
  const name = say(signed === null ? 'signature' : 'gSignedText');
  const text = signed ?? txSignature;
  return (
    <>
      <Mark kind={signed === null ? 'done' : 'time'} />
      <Title>{say(signed === null ? 'gSent' : 'gSigned')}</Title>
      <p>{say(signed === null ? 'gSentHelp' : 'gSignedHelp', { wallet: walletName })}</p>
      {signed === null && facts.next === null && <p>{say('gSentNext')}</p>}
      <dl class="copies">
        <div>
          <dt>{name}</dt>
          <dd>
            <span class="value">{text}</span>
            <button
              type="button"
              class="copy"
              aria-label={`${say(copied === 'text' ? 'copied' : 'copy')}: ${name}`}
              onClick={(event: Event) => actions?.copy(text, event)}
            >
              {say(copied === 'text' ? 'copied' : copied === 'selected' ? 'selected' : 'copy')}
            </button>
          </dd>
        </div>
      </dl>
      {copied === 'selected' && <p class="quiet">{say('copyByHand')}</p>}
      {signed === null && facts.next !== null && (
        <a class="button" href={signedPathOf(facts.next, txSignature)}>
          {say('gNext')}
        </a>
      )}
      {signed !== null && facts.next !== null && (
        <a class="tonal-button" href={facts.next}>
          {say('gUnsent')}
        </a>
      )}
      {signed === null && (
        <a href={explorerUrl(facts.network, txSignature)} rel="noopener noreferrer" target="_blank">
          {say('rExplore')}
        </a>
      )}
      <button type="button" class="plain-button" onClick={() => actions?.readOther()}>
        {say('gOther')}
      </button>
    </>
  );
}
