import { callApi } from '../../browser/call-api.ts';
import { copyText } from '../../browser/copy-text.ts';
import { carryFragment, drawOnChange, textIn } from '../../browser/draw-page.ts';
import { PageHolder } from '../../browser/page-holder.ts';
import { canSend, signWith, TO_PAY } from '../../browser/wallets/sign-with-wallet.ts';
import { listWallets, type OpenWallet, onWalletsChange, openWallet, WalletError } from '../../browser/wallets/wallets.ts';
import { sayIn } from '../../parts/text.ts';
import { FIRST_SIGNING, nextSigning, type SigningEffect, type SigningFacts, type SigningNews, type SigningState } from '../machine.ts';
import { type SigningActions, SigningPanel } from '../view.tsx';

class Wallets {
  #open: OpenWallet | null = null;
  readonly #facts: SigningFacts;

  constructor(facts: SigningFacts) {
    this.#facts = facts;
  }

  async run(effect: Extract<SigningEffect, { attempt: number }>): Promise<SigningNews> {
    const { attempt } = effect;
    try {
      if (effect.kind === 'openWallet') {
        this.#open = await openWallet(this.#facts, TO_PAY, effect.walletName, effect.signer);
        return { kind: 'walletOpened', attempt, account: this.#open.account.address };
      }
      const open = this.#open!;
      // Undefined leaves the default of a wallet that can only sign and send.
      const sends = effect.sends && canSend(open) ? true : undefined;
      const { signedTransaction, txSignature } = await signWith(open, this.#facts, effect.transaction, sends);
      return { kind: 'signed', attempt, signed: signedTransaction, txSignature };
    } catch (error) {
      return { kind: 'walletRefused', attempt, refusal: error instanceof WalletError ? error.refusal : 'failed' };
    }
  }
}

async function send({ paymentId, signed, txSignature }: Extract<SigningEffect, { kind: 'send' }>): Promise<SigningNews> {
  const answer = await callApi('POST', `/v1/payments/${encodeURIComponent(paymentId)}/transaction`, { body: { transaction: signed } });
  return answer.ok ? { kind: 'sent', txSignature } : { kind: 'refused', failure: answer };
}

/** Transaction in the page's fragment, decoded if needed. An API answer is accepted from pasting only. */
function addressedText(): string {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text).replace(/^\s*[{[].*/s, '');
  } catch {
    return text;
  }
}

function start(facts: SigningFacts, panel: HTMLElement): void {
  const page = new PageHolder<SigningState, SigningNews, SigningEffect>(FIRST_SIGNING, (state, news) => nextSigning(facts, state, news));
  const wallets = new Wallets(facts);
  page.connect((effect) => {
    void (effect.kind === 'send' ? send(effect) : wallets.run(effect)).then(page.report);
  });
  const actions: SigningActions = {
    read: (event) => {
      event.preventDefault();
      page.report({ kind: 'pasted', text: textIn(event, 'prepared') });
    },
    choose: (walletName) => page.report({ kind: 'walletPressed', walletName }),
    back: () => page.report({ kind: 'backPressed' }),
    readOther: () => {
      history.replaceState(null, '', location.pathname + location.search);
      page.report({ kind: 'otherPressed' });
    },
    copy: (text, event) =>
      void copyText(text, (event.currentTarget as Element).previousElementSibling).then((isCopied) =>
        page.report({ kind: 'copied', isSelected: !isCopied }),
      ),
  };
  const list = () => page.report({ kind: 'walletsChanged', wallets: listWallets(facts, TO_PAY) });
  const readAddress = () => {
    carryFragment();
    if (location.hash.length > 1) page.report({ kind: 'pasted', text: addressedText() });
  };
  list();
  readAddress();
  drawOnChange(page, panel, sayIn(facts.text), (state, say) => <SigningPanel facts={facts} state={state} say={say} actions={actions} />);
  onWalletsChange(list);
  addEventListener('hashchange', readAddress);
}

const facts = document.getElementById('facts');
const panel = document.getElementById('panel');
if (facts?.textContent && panel) start(JSON.parse(facts.textContent) as SigningFacts, panel);
