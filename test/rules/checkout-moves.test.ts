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

  /** Reports what happens, one after the other; `effects` are those of the last. */
  tell(at: number, ...news: PageNews[]): this {
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
  new Page(facts).tell(
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

/** Up to the wallet that shows its request. */
const asked = (sends: boolean): Page =>
  opened().tell(
    0,
    { kind: 'walletPressed', walletName: 'Wallet A' },
    { kind: 'walletOpened', attempt: 1, account: 'buyer', sends },
    { kind: 'turnTaken', attempt: 1, stored: PAYMENT },
    { kind: 'transactionPrepared', attempt: 1, transaction: 'unsigned' },
  );

describe('a wallet that was left', () => {
  it('is asked nothing more and answers in vain where it only signs, so that another may be asked', () => {
    const page = asked(false).tell(0, { kind: 'cancelPressed' });
    expect(page.state).toMatchObject({ step: 'choosing', openRequest: null, problem: { key: 'pCloseFirst' } });
    page.tell(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    expect([page.state.step, page.effects]).toEqual(['choosing', []]);
    expect(page.tell(0, { kind: 'walletPressed', walletName: 'Wallet B' }).kinds).toEqual(['openWallet']);
  });

  it('has to be answered before another is asked where it sends by itself, even for the next payment', () => {
    const page = asked(true).tell(0, { kind: 'cancelPressed' }, { kind: 'walletPressed', walletName: 'Wallet B' });
    expect(page.state).toMatchObject({ step: 'choosing', problem: { key: 'pStillAsked', values: { wallet: 'Wallet A' } } });
    page.tell(0, read({ status: 'FAILED', failure_code: 'transaction_failed' }), { kind: 'startAgainPressed' });
    page.tell(0, { kind: 'walletPressed', walletName: 'Wallet B' });
    expect([page.state.step, page.effects]).toEqual(['choosing', []]);
    page.tell(0, { kind: 'walletRefused', attempt: 1, walletName: 'Wallet A', refusal: 'rejected', message: '' });
    expect(page.tell(0, { kind: 'walletPressed', walletName: 'Wallet B' }).kinds).toEqual(['openWallet']);
  });

  it('is told to the service where it sent after the page had gone on to a payment that is paid', () => {
    const page = asked(true).tell(0, { kind: 'cancelPressed' }, { kind: 'storedChanged', stored: OTHER });
    page.tell(0, { kind: 'paymentRead', paymentId: OTHER.paymentId, status: newStatus(OTHER, { status: 'CONFIRMED' }), redirectUrl: null });
    page.tell(0, { kind: 'walletSent', attempt: 1, txSignature: 'tx' });
    expect(page.effects).toEqual([{ kind: 'tellSecond', paymentId: PAYMENT.paymentId, txSignature: 'tx' }]);
    expect(page.state).toMatchObject({ step: 'confirmed', isTwice: true, payment: { paymentId: OTHER.paymentId } });
  });

  it('that did not say whether it has paid closes every way to pay until that is certain', () => {
    const page = asked(true).tell(0, { kind: 'walletRefused', attempt: 1, walletName: 'Wallet A', refusal: 'unclear', message: '' });
    expect(page.kinds).toEqual(['storeUnclear', 'lookNow']);
    page.tell(0, { kind: 'walletPressed', walletName: 'Wallet B' }, { kind: 'phonePressed' });
    expect(page.state).toMatchObject({ step: 'choosing', isUnclear: true, isPhoneOpen: false });
    expect(page.tell(150_000, { kind: 'secondPassed' }).state).toMatchObject({ isUnclear: false });
  });
});

describe('a transaction', () => {
  it('is stored before it is sent, and left again where the service refused it for good', () => {
    const page = asked(false).tell(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    expect(page.kinds).toEqual(['storePayment', 'sendTransaction']);
    // The service is asked how the payment stands while it is sent; it knows of nothing yet.
    expect(watchOf(page.state)).toMatchObject({ txSignature: null });
    page.tell(0, read({}));
    expect(page.state.step).toBe('sending');
    const mismatch = { ...failure('payment_mismatch'), meta: { reason: 'transaction_rejected' }, detail: 'custom program error: 0x1' };
    page.tell(0, { kind: 'sendRefused', paymentId: PAYMENT.paymentId, txSignature: 'tx', failure: mismatch, isFinal: true });
    expect(page.state).toMatchObject({ step: 'choosing', payment: { txSignature: null }, problem: { key: 'pFunds' } });
    expect(page.effects[0]).toMatchObject({ kind: 'storePayment', payment: { txSignature: null } });
  });

  it('that was refused for good is forgotten too where another payment of the same has been seen meanwhile', () => {
    const page = asked(false).tell(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    page.tell(0, read({ status: 'PENDING_CONFIRMATION', tx_signature: 'of another device' }));
    const refused = { kind: 'sendRefused', paymentId: PAYMENT.paymentId, txSignature: 'tx', failure: failure('payment_mismatch') } as const;
    page.tell(0, { ...refused, isFinal: true });
    expect(page.state).toMatchObject({ step: 'seen', payment: { txSignature: 'of another device' } });
    expect(page.effects).toMatchObject([{ kind: 'storePayment', payment: { txSignature: 'of another device' } }]);
  });

  it('that was signed when the time was over is still sent, and the answer decides', () => {
    const page = asked(false).tell(300_000, { kind: 'secondPassed' });
    expect(page.state.step).toBe('closing');
    page.tell(301_000, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    expect(page.state.step).toBe('sending');
  });

  it('that may have been sent is looked for, whatever the answer was', () => {
    const page = asked(false).tell(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' });
    page.tell(0, { kind: 'sendRefused', paymentId: PAYMENT.paymentId, txSignature: 'tx', failure: failure('offline', 0), isFinal: false });
    expect(page.state).toMatchObject({ step: 'seen', isSlow: true, payment: { txSignature: 'tx' } });
    expect(watchOf(page.state)).toMatchObject({ txSignature: 'tx' });
  });
});

describe('a payment that an earlier choice has begun', () => {
  it('is the one that the next wallet is asked for, and does not end its choice', () => {
    const open = (attempt: number) => ({ kind: 'walletOpened', attempt, account: 'buyer', sends: false }) as const;
    const page = opened(null).tell(0, { kind: 'walletPressed', walletName: 'Wallet A' }, open(1), { kind: 'cancelPressed' });
    page.tell(0, { kind: 'walletPressed', walletName: 'Wallet B' }, open(2));
    expect(page.kinds).toEqual(['beginPayment']);
    page.tell(0, { kind: 'paymentBegun', attempt: 1, payment: PAYMENT, transaction: 'of wallet A', isOnItsWay: false });
    expect(page.state).toMatchObject({ step: 'connecting', walletName: 'Wallet B', payment: PAYMENT, transaction: null });
    page.tell(0, { kind: 'paymentKnown', attempt: 2, payment: PAYMENT });
    expect(page.effects).toEqual([{ kind: 'takeTurn', attempt: 2, paymentId: PAYMENT.paymentId }]);
  });
});

describe('another tab', () => {
  it('that has paid while this one opened its wallet is followed, and no wallet is asked', () => {
    const page = opened().tell(0, { kind: 'walletPressed', walletName: 'Wallet A' });
    page.tell(0, { kind: 'walletOpened', attempt: 1, account: 'buyer', sends: false });
    page.tell(0, { kind: 'turnTaken', attempt: 1, stored: { ...PAYMENT, txSignature: 'tx' } });
    expect([page.state.step, page.effects]).toEqual(['seen', []]);
  });

  it('that does not know whether its wallet has paid takes this one back to the choice', () => {
    const page = opened().tell(0, { kind: 'walletPressed', walletName: 'Wallet A' });
    page.tell(0, { kind: 'walletOpened', attempt: 1, account: 'buyer', sends: false });
    page.tell(0, { kind: 'turnTaken', attempt: 1, stored: { ...PAYMENT, unclearUntil: START + 60_000 } });
    expect(page.state).toMatchObject({ step: 'choosing', isUnclear: true });
  });

  it('that goes on with another payment does not take this one away from money that it has sent', () => {
    const page = asked(true).tell(0, { kind: 'walletSent', attempt: 1, txSignature: 'tx' }, { kind: 'storedChanged', stored: OTHER });
    expect(paymentOf(page.state)?.paymentId).toBe(PAYMENT.paymentId);
    page.tell(0, read({ status: 'FAILED', failure_code: 'transaction_failed' }), { kind: 'startAgainPressed' });
    // Only its own payment is forgotten: the other is the next one's.
    expect(page.effects).toContainEqual({ kind: 'forgetPayment', paymentId: PAYMENT.paymentId });
  });
});

describe('the service’s word', () => {
  it('on the end of the time is the one that counts, so the page does not close and open in turns', () => {
    const page = opened().tell(290_000, { kind: 'secondPassed' });
    expect([page.state.step, page.kinds]).toEqual(['closing', ['lookNow']]);
    page.tell(291_000, read({ expires_at: new Date(START + 600_000).toISOString() }));
    expect([page.state.step, page.kinds]).toEqual(['choosing', []]);
    expect(page.tell(292_000, { kind: 'secondPassed' }).state.step).toBe('choosing');
  });

  it('takes the buyer to the shop only over https, and only who saw the payment arrive', () => {
    const paid = { status: 'CONFIRMED', tx_signature: 'tx' } as const;
    const fresh = () => opened().tell(0, read({ status: 'PENDING_CONFIRMATION', tx_signature: 'tx' }));
    expect(fresh().tell(0, read(paid, 'https://shop.example/')).state).toMatchObject({ step: 'confirmed', isLeaving: true });
    expect(fresh().tell(0, read(paid, 'http://shop.example/')).state).toMatchObject({ redirectUrl: null, isLeaving: false });
    expect(opened().tell(0, read(paid, 'https://shop.example/')).state).toMatchObject({
      redirectUrl: 'https://shop.example/',
      isLeaving: false,
    });
    const staying = fresh().tell(0, read(paid, 'https://shop.example/'), { kind: 'stayPressed' }, { kind: 'leaveDue' });
    expect(staying.effects).toEqual([]);
  });

  it('that money came too late stands, until it counts for a payment after all', () => {
    const page = opened().tell(0, { kind: 'paymentLate', paymentId: PAYMENT.paymentId, txSignature: 'tx' });
    page.tell(0, read({ status: 'FAILED', failure_code: 'session_expired' }), { kind: 'startAgainPressed' });
    expect(page.state.step).toBe('late');
    expect(watchOf(page.state)).not.toBeNull();
    page.tell(0, { kind: 'paymentRecovered', paymentId: PAYMENT.paymentId, recoveredId: OTHER.paymentId });
    expect(page.state).toMatchObject({ step: 'seen', payment: { paymentId: OTHER.paymentId } });
  });

  it('that the link is over ends the choice, and a payment begun without what is asked by now is not offered', () => {
    const over = opened(null).tell(0, { kind: 'phonePressed' });
    over.tell(0, { kind: 'beginRefused', attempt: null, failure: failure('session_expired', 410) });
    expect(over.state).toMatchObject({ step: 'unavailable', reason: 'sessionOver' });
    const page = opened().tell(0, { kind: 'walletPressed', walletName: 'Wallet A' });
    page.tell(0, { kind: 'walletOpened', attempt: 1, account: 'buyer', sends: false }, { kind: 'turnTaken', attempt: 1, stored: PAYMENT });
    page.tell(0, { kind: 'prepareRefused', attempt: 1, failure: failure('identity_verification_required') });
    expect(page.state).toMatchObject({ step: 'unavailable', reason: 'pIdentityNow' });
    // It ends like every other one, and then the buyer begins anew.
    expect(page.tell(290_000, { kind: 'secondPassed' }).state.step).toBe('closing');
  });
});

describe('who the buyer is', () => {
  it('is asked about by itself, every ten seconds and when they come back, without a word while they are not done', () => {
    const identity = { sessionId: 'i', provider: 'Telegram', deepLink: 'https://t.me/', expiresAt: STATUS.expires_at };
    const page = opened(null).tell(0, { kind: 'phonePressed' }, { kind: 'identityWanted', identity, isNew: true });
    expect(page.kinds).toEqual(['storeIdentity']);
    expect(page.tell(5000, { kind: 'secondPassed' }).kinds).toEqual([]);
    const quiet: PageNews = { kind: 'identityWanted', identity, isNew: false };
    for (const news of [{ kind: 'buyerReturned' }, { kind: 'secondPassed' }] as const) {
      expect(page.tell(news.kind === 'secondPassed' ? 15_000 : 5000, news).kinds).toEqual(['beginPayment']);
      page.tell(15_000, quiet);
      expect(page.state).toMatchObject({ step: 'identity', problem: null, isBusy: false });
    }
    page.tell(25_000, { kind: 'secondPassed' }, { kind: 'beginRefused', attempt: null, failure: failure('rate_limited', 429) });
    expect(page.state).toMatchObject({ step: 'identity', problem: null, isBusy: false });
    expect(page.tell(26_000, { kind: 'identityFinished' }).kinds).toEqual(['beginPayment']);
    expect(page.tell(26_000, quiet).state).toMatchObject({ step: 'identity', problem: { key: 'identityNotYet' } });
  });
});

describe('money that came short', () => {
  const money = { amount: { asset: 'USDC', amount: '4' }, tx_signature: 'short', reason: 'underpaid' } as const;
  const short = (): Page => opened().tell(0, read({ seen: [money] }));

  it('closes every way to pay, and the page asks on for what the seller decides', () => {
    const { state } = short();
    expect(state).toMatchObject({ step: 'short', money: [money], payment: { txSignature: null } });
    expect(watchOf(state)).toMatchObject({ paymentId: 'payment-1', txSignature: null, shortBy: ['short'] });
    expect(short().tell(0, { kind: 'walletPressed', walletName: 'Wallet A' }).kinds).toEqual([]);
  });

  it('is sent nothing on top by a wallet that was asked before it came', () => {
    const page = asked(false).tell(0, read({ seen: [money] }));
    expect(page.state.step).toBe('short');
    expect(page.tell(0, { kind: 'walletSigned', attempt: 1, transaction: 'signed', txSignature: 'tx' }).kinds).toEqual([]);
  });

  it('is the transaction this browser sent, taken for no payment under way', () => {
    const page = opened({ ...PAYMENT, txSignature: 'short' }).tell(0, read({ seen: [money] }));
    expect(page.state).toMatchObject({ step: 'short', payment: { txSignature: null } });
    expect(page.kinds).toEqual(['storePayment']);
    expect(opened({ ...PAYMENT, txSignature: 'other' }).tell(0, read({ seen: [money] })).state.step).toBe('seen');
  });

  it('stays shown after the end, and is left only by a deed of the buyer, for good', () => {
    const ended = short().tell(0, read({ status: 'FAILED', failure_code: 'session_expired', seen: [money] }));
    expect([ended.state.step, ended.kinds]).toEqual(['short', ['storeEnd']]);
    expect(ended.tell(0, { kind: 'shortDismissed' }).state).toMatchObject({ step: 'choosing', payment: null });
    const anyway = short().tell(0, { kind: 'shortDismissed' }, read({ seen: [money] }));
    expect(anyway.state).toMatchObject({ step: 'choosing', payment: { paymentId: 'payment-1' } });
  });

  it('is late money where it came after the end', () => {
    const late = read({ status: 'FAILED', failure_code: 'session_expired', seen: [{ ...money, reason: 'late' }] });
    expect(opened().tell(0, late).state).toMatchObject({ step: 'late', payment: { txSignature: 'short' } });
  });
});
