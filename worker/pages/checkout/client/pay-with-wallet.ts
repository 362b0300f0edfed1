import { isSender, signWith, TO_PAY } from '../../browser/wallets/sign-with-wallet.ts';
import { type OpenWallet, openWallet, WalletError } from '../../browser/wallets/wallets.ts';
import type { PageFacts } from '../facts.ts';
import type { PageNews, WalletEffect } from '../machine/events.ts';
import { holdsTurn } from '../machine/next.ts';
import type { CheckoutHolder } from './page-state.ts';
import type { StoredPayment } from './stored-payment.ts';

type Of<K extends WalletEffect['kind']> = Extract<WalletEffect, { kind: K }>;

export class WalletEffects {
  readonly #facts: PageFacts;
  readonly #page: CheckoutHolder;
  readonly #stored: StoredPayment;
  #open: { attempt: number; wallet: OpenWallet; walletName: string } | null = null;
  #attempt = 0;
  #giveTurnBack: () => void = () => {};
  #turn: Promise<unknown> = Promise.resolve();

  constructor(facts: PageFacts, page: CheckoutHolder, stored: StoredPayment) {
    this.#facts = facts;
    this.#page = page;
    this.#stored = stored;
  }

  async run(effect: WalletEffect): Promise<void> {
    switch (effect.kind) {
      case 'openWallet':
        return this.#page.report(await this.#openWallet(effect));
      case 'takeTurn':
        return this.#takeTurn(effect);
      case 'askWallet':
        return this.#page.report(await this.#askWallet(effect));
    }
  }

  /** Releases the turn once the page's state no longer holds it. */
  settle(): void {
    if (!holdsTurn(this.#page.state)) this.#giveTurnBack();
  }

  async #openWallet({ attempt, walletName }: Of<'openWallet'>): Promise<PageNews> {
    this.#attempt = attempt;
    try {
      const wallet = await openWallet(this.#facts, TO_PAY, walletName);
      if (attempt === this.#attempt) this.#open = { attempt, wallet, walletName };
      return { kind: 'walletOpened', attempt, account: wallet.account.address, sends: isSender(wallet) };
    } catch (error) {
      return toRefusal(error, attempt, walletName);
    }
  }

  async #takeTurn({ attempt, paymentId }: Of<'takeTurn'>): Promise<void> {
    this.#giveTurnBack();
    await this.#turn;
    const { report } = this.#page;
    const turn = this.#stored.takingTurn(paymentId, async () => {
      // A later attempt waits for this turn to end.
      if (attempt !== this.#attempt) return;
      const givenBack = new Promise<void>((resolve) => {
        this.#giveTurnBack = resolve;
      });
      report({ kind: 'turnTaken', attempt, stored: this.#stored.read() });
      await givenBack;
    });
    // A browser that refuses the lock grants no turn.
    const isTaken = turn.catch(() => false);
    this.#turn = isTaken;
    if (!(await isTaken)) report({ kind: 'turnRefused', attempt });
  }

  async #askWallet({ attempt, transaction }: Of<'askWallet'>): Promise<PageNews> {
    const open = this.#open;
    if (open?.attempt !== attempt) return { kind: 'walletRefused', attempt, walletName: '', refusal: 'failed', message: 'gone' };
    try {
      const { signedTransaction, txSignature } = await signWith(open.wallet, this.#facts, transaction);
      if (signedTransaction === null) return { kind: 'walletSent', attempt, txSignature };
      return { kind: 'walletSigned', attempt, transaction: signedTransaction, txSignature };
    } catch (error) {
      return toRefusal(error, attempt, open.walletName);
    }
  }
}

function toRefusal(error: unknown, attempt: number, walletName: string): PageNews {
  const { refusal, message } = error instanceof WalletError ? error : new WalletError('failed', String(error));
  return { kind: 'walletRefused', attempt, walletName, refusal, message };
}
