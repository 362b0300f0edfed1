import { describe, expect, it } from 'vitest';
import type { PageFacts } from '../../worker/pages/checkout/facts.ts';
import type { PageEffect, PageNews } from '../../worker/pages/checkout/machine/events.ts';
import { next, watchOf } from '../../worker/pages/checkout/machine/next.ts';
import { firstState, type PageState, paymentOf } from '../../worker/pages/checkout/state.ts';
import { failure, newPayment, newStatus, pageFacts, START } from '../support/fixtures/page-values.ts';

const FACTS = pageFacts();
const PAYMENT = newPayment('payment-1', START);
const OTHER = newPayment('payment-2', START);
const STATUS = newStatus(PAYMENT);

class Page {
  state: PageState;
  effects: PageEffect[] = [];
  readonly #facts: PageFacts;
  constructor(facts = FACTS) {
    this.#facts = facts;
    this.state = firstState(facts);
  }

  /** Reports events in order. `effects` holds those of the last. */
  report(at: number, ...news: PageNews[]): this {
    for (const one of news) {
      const turn = next(this.#facts, this.state, { ...one, at: START + at });
      this.state = turn.state;
      this.effects = turn.effects;
    }
    return this;
  }

  get kinds(): string[] {
    return this.effects.map(({ kind }) => kind);
  }
}

const opened = (stored = PAYMENT as typeof PAYMENT | null, facts = FACTS): Page =>
  new Page(facts).report(
    0,
    { kind: 'pageOpened', stored, isOver: false, identity: null, addressedId: null },
    ...(stored ? [] : [{ kind: 'nothingElsewhere', otherwise: null } as const]),
  );
const read = (changed: Partial<typeof STATUS>, redirectUrl: string | null = null): PageNews => ({
  kind: 'paymentRead',
  paymentId: PAYMENT.paymentId,
  status: { ...STATUS, ...changed },
  redirectUrl,
});

const asked = (sends: boolean): Page =>
  opened().report(
    0,
    { kind: 'walletPressed', walletName: 'Wallet A' },
    { kind: 'walletOpened', attempt: 1, account: 'buyer', sends },
    { kind: 'turnTaken', attempt: 1, stored: PAYMENT },
    { kind: 'transactionPrepared', attempt: 1, transaction: 'unsigned' },
  );

describe('checkout machine: abandoned wallet', () => {
  it('a wallet that only signs is ignored after it was left, and another may be asked', () => {
    const page = asked(false).report(0, { kind: 'cancelPressed' });
    expect(page.state).toMatchObject({ step: 'choosing', openRequest: null, problem: { key: 'pCloseFirst' } });
    page.report(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    expect([page.state.step, page.effects]).toEqual(['choosing', []]);
    expect(page.report(0, { kind: 'walletPressed', walletName: 'Wallet B' }).kinds).toEqual(['openWallet']);
  });

  it('a wallet that sends by itself must answer before another is asked, even for the next payment', () => {
    const page = asked(true).report(0, { kind: 'cancelPressed' }, { kind: 'walletPressed', walletName: 'Wallet B' });
    expect(page.state).toMatchObject({ step: 'choosing', problem: { key: 'pStillAsked', values: { wallet: 'Wallet A' } } });
    page.report(0, read({ status: 'FAILED', failure_code: 'transaction_failed' }), { kind: 'startAgainPressed' });
    page.report(0, { kind: 'walletPressed', walletName: 'Wallet B' });
    expect([page.state.step, page.effects]).toEqual(['choosing', []]);
    page.report(0, { kind: 'walletRefused', attempt: 1, walletName: 'Wallet A', refusal: 'rejected', message: '' });
    expect(page.report(0, { kind: 'walletPressed', walletName: 'Wallet B' }).kinds).toEqual(['openWallet']);
  });

  it('a transaction sent after the page moved to a paid payment is reported to the service as a second one', () => {
    const page = asked(true).report(0, { kind: 'cancelPressed' }, { kind: 'storedChanged', stored: OTHER });
    page.report(0, {
      kind: 'paymentRead',
      paymentId: OTHER.paymentId,
      status: newStatus(OTHER, { status: 'CONFIRMED' }),
      redirectUrl: null,
    });
    page.report(0, { kind: 'walletSent', attempt: 1, txSignature: 'tx' });
    expect(page.effects).toEqual([{ kind: 'tellSecond', paymentId: PAYMENT.paymentId, txSignature: 'tx' }]);
    expect(page.state).toMatchObject({ step: 'confirmed', isTwice: true, payment: { paymentId: OTHER.paymentId } });
  });

  it('an unclear wallet answer closes every way to pay until it is certain', () => {
    const page = asked(true).report(0, { kind: 'walletRefused', attempt: 1, walletName: 'Wallet A', refusal: 'unclear', message: '' });
    expect(page.kinds).toEqual(['storeUnclear', 'lookNow']);
    page.report(0, { kind: 'walletPressed', walletName: 'Wallet B' }, { kind: 'phonePressed' });
    expect(page.state).toMatchObject({ step: 'choosing', isUnclear: true, isPhoneOpen: false });
    expect(page.report(150_000, { kind: 'secondPassed' }).state).toMatchObject({ isUnclear: false });
  });
});

describe('checkout machine: transaction', () => {
  it('a transaction is stored before it is sent, and cleared if the service refuses it for good', () => {
    const page = asked(false).report(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    expect(page.kinds).toEqual(['storePayment', 'sendTransaction']);
    expect(watchOf(page.state)).toMatchObject({ txSignature: null });
    page.report(0, read({}));
    expect(page.state.step).toBe('sending');
    const mismatch = { ...failure('payment_mismatch'), meta: { reason: 'transaction_rejected' }, detail: 'custom program error: 0x1' };
    page.report(0, { kind: 'sendRefused', paymentId: PAYMENT.paymentId, txSignature: 'tx', failure: mismatch, isFinal: true });
    expect(page.state).toMatchObject({ step: 'choosing', payment: { txSignature: null }, problem: { key: 'pFunds' } });
    expect(page.effects[0]).toMatchObject({ kind: 'storePayment', payment: { txSignature: null } });
  });

  it('a transaction refused for good is cleared even if another transaction of the payment was seen meanwhile', () => {
    const page = asked(false).report(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    page.report(0, read({ status: 'PENDING_CONFIRMATION', tx_signature: 'of another device' }));
    const refused = { kind: 'sendRefused', paymentId: PAYMENT.paymentId, txSignature: 'tx', failure: failure('payment_mismatch') } as const;
    page.report(0, { ...refused, isFinal: true });
    expect(page.state).toMatchObject({ step: 'seen', payment: { txSignature: 'of another device' } });
    expect(page.effects).toMatchObject([{ kind: 'storePayment', payment: { txSignature: 'of another device' } }]);
  });

  it('a transaction signed after the time is over is still sent', () => {
    const page = asked(false).report(300_000, { kind: 'secondPassed' });
    expect(page.state.step).toBe('closing');
    page.report(301_000, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    expect(page.state.step).toBe('sending');
  });

  it('a transaction that may have been sent is watched, whatever the answer was', () => {
    const page = asked(false).report(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    page.report(0, {
      kind: 'sendRefused',
      paymentId: PAYMENT.paymentId,
      txSignature: 'tx',
      failure: failure('offline', 0),
      isFinal: false,
    });
    expect(page.state).toMatchObject({ step: 'seen', isSlow: true, payment: { txSignature: 'tx' } });
    expect(watchOf(page.state)).toMatchObject({ txSignature: 'tx' });
  });
});

describe('checkout machine: payment begun by an earlier choice', () => {
  it('the next wallet is asked for that payment, and the choice continues', () => {
    const open = (attempt: number) => ({ kind: 'walletOpened', attempt, account: 'buyer', sends: false }) as const;
    const page = opened(null).report(0, { kind: 'walletPressed', walletName: 'Wallet A' }, open(1), { kind: 'cancelPressed' });
    page.report(0, { kind: 'walletPressed', walletName: 'Wallet B' }, open(2));
    expect(page.kinds).toEqual(['beginPayment']);
    page.report(0, { kind: 'paymentBegun', attempt: 1, payment: PAYMENT, transaction: 'of wallet A', isOnItsWay: false });
    expect(page.state).toMatchObject({ step: 'connecting', walletName: 'Wallet B', payment: PAYMENT, transaction: null });
    page.report(0, { kind: 'paymentKnown', attempt: 2, payment: PAYMENT });
    expect(page.effects).toEqual([{ kind: 'takeTurn', attempt: 2, paymentId: PAYMENT.paymentId }]);
  });
});

describe('checkout machine: other tabs', () => {
  it('a payment made in another tab meanwhile is followed, and no wallet is asked', () => {
    const page = opened().report(0, { kind: 'walletPressed', walletName: 'Wallet A' });
    page.report(0, { kind: 'walletOpened', attempt: 1, account: 'buyer', sends: false });
    page.report(0, { kind: 'turnTaken', attempt: 1, stored: { ...PAYMENT, txSignature: 'tx' } });
    expect([page.state.step, page.effects]).toEqual(['seen', []]);
  });

  it('an unclear wallet in another tab returns this one to the choice', () => {
    const page = opened().report(0, { kind: 'walletPressed', walletName: 'Wallet A' });
    page.report(0, { kind: 'walletOpened', attempt: 1, account: 'buyer', sends: false });
    page.report(0, { kind: 'turnTaken', attempt: 1, stored: { ...PAYMENT, unclearUntil: START + 60_000 } });
    expect(page.state).toMatchObject({ step: 'choosing', isUnclear: true });
  });

  it('a tab that sent money stays with its payment if another tab begins a new one', () => {
    const page = asked(true).report(0, { kind: 'walletSent', attempt: 1, txSignature: 'tx' }, { kind: 'storedChanged', stored: OTHER });
    expect(paymentOf(page.state)?.paymentId).toBe(PAYMENT.paymentId);
    page.report(0, read({ status: 'FAILED', failure_code: 'transaction_failed' }), { kind: 'startAgainPressed' });
    // Clears only its own payment. The other one belongs to the next purchase.
    expect(page.effects).toContainEqual({ kind: 'forgetPayment', paymentId: PAYMENT.paymentId });
  });
});

describe('checkout machine: answers of the service', () => {
  it('the service’s expiry replaces the page’s own, so the page does not close and reopen in turns', () => {
    const page = opened().report(290_000, { kind: 'secondPassed' });
    expect([page.state.step, page.kinds]).toEqual(['closing', ['lookNow']]);
    page.report(291_000, read({ expires_at: new Date(START + 600_000).toISOString() }));
    expect([page.state.step, page.kinds]).toEqual(['choosing', []]);
    expect(page.report(292_000, { kind: 'secondPassed' }).state.step).toBe('choosing');
  });

  it('the page redirects only over https, and only a buyer who saw the payment arrive', () => {
    const paid = { status: 'CONFIRMED', tx_signature: 'tx' } as const;
    const fresh = () => opened().report(0, read({ status: 'PENDING_CONFIRMATION', tx_signature: 'tx' }));
    expect(fresh().report(0, read(paid, 'https://shop.example/')).state).toMatchObject({ step: 'confirmed', isLeaving: true });
    expect(fresh().report(0, read(paid, 'http://shop.example/')).state).toMatchObject({ redirectUrl: null, isLeaving: false });
    expect(opened().report(0, read(paid, 'https://shop.example/')).state).toMatchObject({
      redirectUrl: 'https://shop.example/',
      isLeaving: false,
    });
    const staying = fresh().report(0, read(paid, 'https://shop.example/'), { kind: 'stayPressed' }, { kind: 'leaveDue' });
    expect(staying.effects).toEqual([]);
  });

  it('a late payment stays shown as late until it counts for a payment', () => {
    const page = opened().report(0, { kind: 'paymentLate', paymentId: PAYMENT.paymentId, txSignature: 'tx' });
    page.report(0, read({ status: 'FAILED', failure_code: 'session_expired' }), { kind: 'startAgainPressed' });
    expect(page.state.step).toBe('late');
    expect(watchOf(page.state)).not.toBeNull();
    page.report(0, { kind: 'paymentRecovered', paymentId: PAYMENT.paymentId, recoveredId: OTHER.paymentId });
    expect(page.state).toMatchObject({ step: 'seen', payment: { paymentId: OTHER.paymentId } });
  });

  it('an expired link ends the choice, and a payment without a newly required identity is not offered', () => {
    const over = opened(null).report(0, { kind: 'phonePressed' });
    over.report(0, { kind: 'beginRefused', attempt: null, failure: failure('session_expired', 410) });
    expect(over.state).toMatchObject({ step: 'unavailable', reason: 'sessionOver' });
    const page = opened().report(0, { kind: 'walletPressed', walletName: 'Wallet A' });
    page.report(
      0,
      { kind: 'walletOpened', attempt: 1, account: 'buyer', sends: false },
      { kind: 'turnTaken', attempt: 1, stored: PAYMENT },
    );
    page.report(0, { kind: 'prepareRefused', attempt: 1, failure: failure('identity_verification_required') });
    expect(page.state).toMatchObject({ step: 'unavailable', reason: 'pIdentityNow' });
    expect(page.report(290_000, { kind: 'secondPassed' }).state.step).toBe('closing');
  });
});

describe('checkout machine: identity verification', () => {
  it('the status is polled every ten seconds and on return, and shows no message while it is unfinished', () => {
    const identity = { sessionId: 'i', provider: 'Telegram', deepLink: 'https://t.me/', expiresAt: STATUS.expires_at };
    const page = opened(null).report(0, { kind: 'phonePressed' }, { kind: 'identityWanted', identity, isNew: true });
    expect(page.kinds).toEqual(['storeIdentity']);
    expect(page.report(5000, { kind: 'secondPassed' }).kinds).toEqual([]);
    const quiet: PageNews = { kind: 'identityWanted', identity, isNew: false };
    for (const news of [{ kind: 'buyerReturned' }, { kind: 'secondPassed' }] as const) {
      expect(page.report(news.kind === 'secondPassed' ? 15_000 : 5000, news).kinds).toEqual(['beginPayment']);
      page.report(15_000, quiet);
      expect(page.state).toMatchObject({ step: 'identity', problem: null, isBusy: false });
    }
    page.report(25_000, { kind: 'secondPassed' }, { kind: 'beginRefused', attempt: null, failure: failure('rate_limited', 429) });
    expect(page.state).toMatchObject({ step: 'identity', problem: null, isBusy: false });
    expect(page.report(26_000, { kind: 'identityFinished' }).kinds).toEqual(['beginPayment']);
    expect(page.report(26_000, quiet).state).toMatchObject({ step: 'identity', problem: { key: 'identityNotYet' } });
  });
});

describe('checkout machine: underpayment', () => {
  const money = { amount: { asset: 'USDC', amount: '4' }, tx_signature: 'short', reason: 'underpaid' } as const;
  const short = (): Page => opened().report(0, read({ seen: [money] }));

  it('an underpayment closes every way to pay, and the page polls for the seller’s decision', () => {
    const { state } = short();
    expect(state).toMatchObject({ step: 'short', money: [money], payment: { txSignature: null } });
    expect(watchOf(state)).toMatchObject({ paymentId: 'payment-1', txSignature: null, shortBy: ['short'] });
    expect(short().report(0, { kind: 'walletPressed', walletName: 'Wallet A' }).kinds).toEqual([]);
  });

  it('a wallet asked before the underpayment sends nothing on top of it', () => {
    const page = asked(false).report(0, read({ seen: [money] }));
    expect(page.state.step).toBe('short');
    expect(page.report(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' }).kinds).toEqual([]);
  });

  it('an underpaid transaction of this browser does not count as a payment under way', () => {
    const page = opened({ ...PAYMENT, txSignature: 'short' }).report(0, read({ seen: [money] }));
    expect(page.state).toMatchObject({ step: 'short', payment: { txSignature: null } });
    expect(page.kinds).toEqual(['storePayment']);
    expect(opened({ ...PAYMENT, txSignature: 'other' }).report(0, read({ seen: [money] })).state.step).toBe('seen');
  });

  it('an underpayment stays shown after the session ends, and only the buyer dismisses it, for good', () => {
    const ended = short().report(0, read({ status: 'FAILED', failure_code: 'session_expired', seen: [money] }));
    expect([ended.state.step, ended.kinds]).toEqual(['short', ['storeEnd']]);
    expect(ended.report(0, { kind: 'shortDismissed' }).state).toMatchObject({ step: 'choosing', payment: null });
    const anyway = short().report(0, { kind: 'shortDismissed' }, read({ seen: [money] }));
    expect(anyway.state).toMatchObject({ step: 'choosing', payment: { paymentId: 'payment-1' } });
  });

  it('an underpayment after the end is shown as late', () => {
    const late = read({ status: 'FAILED', failure_code: 'session_expired', seen: [{ ...money, reason: 'late' }] });
    expect(opened().report(0, late).state).toMatchObject({ step: 'late', payment: { txSignature: 'short' } });
  });
});
